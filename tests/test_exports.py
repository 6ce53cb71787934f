"""The exports of docs/networks.md, run on stand-ins: networks with the inputs, outputs and parts of those named there.

The stand-ins measure disparities without training, so that the sign and scale of the recipes are tested, too.
"""

import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from docs_pages import ROOT, blocks_of
from dualpix.networks import open_network

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch onnxscript")
pytest.importorskip("onnxscript", reason="onnxscript is not installed: pip install onnxscript")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

PAGE = ROOT / "docs/networks.md"
MOST = 4  # iterations: enough for a few px
pytestmark = pytest.mark.filterwarnings("default")  # of PyTorch


class Raft(nn.Module):
    """Values from 0 to 255 in. The flow x_right - x_left at half the size and at full size out."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.features = nn.Conv2d(3, 32, 7, stride=2, padding=3)

    def forward(self, image1, image2, iters=12, test_mode=False):
        one, two = (self.features(2 * (image / 255) - 1) for image in (image1, image2))
        one, two = (F.normalize(f - F.avg_pool2d(f, 9, 1, 4), dim=1) for f in (one, two))
        n, _, h, w = one.shape
        volume = torch.einsum("nchw,nchv->nhwv", one, two).reshape(n * h * w, 1, 1, w)
        steps = torch.arange(-4, 5, dtype=one.dtype)
        x0 = torch.arange(w, dtype=one.dtype).view(1, 1, 1, w).expand(n, 1, h, w)
        x1 = x0
        for _ in range(min(iters, MOST)):
            at = x1.reshape(n * h * w, 1, 1, 1) + steps.view(1, 1, -1, 1)
            grid = torch.cat([2 * at / (w - 1) - 1, torch.zeros_like(at)], dim=-1)
            costs = F.grid_sample(volume, grid, align_corners=True).view(n, h, w, -1)
            move = (torch.softmax(20 * costs, dim=-1) * steps).sum(-1)[:, None]
            x1 = x0 + F.avg_pool2d(F.pad(x1 + move - x0, (3, 3, 3, 3), mode="replicate"), 7, 1)
        full = 2 * F.interpolate(x1 - x0, scale_factor=2, mode="bilinear", align_corners=True)
        return (x1 - x0, full) if test_mode else [full]


class Sfbd(Raft):
    """Values from 0 to 1 in. LCR is the flow from the mean of the views to the right one, less that to the left one."""

    def forward(self, left, right, test_mode=False):
        left, right = 255 * left, 255 * right
        centre = (left + right) / 2
        to_left, to_right = (super(Sfbd, self).forward(centre, view, test_mode=True)[1] for view in (left, right))
        return {"LC": to_left, "CR": to_right, "LCR": to_right - to_left}


class First(nn.Module):
    """Values from 0 to 1 in. left(x) against right(x - i) for i from 0 to 11; it pools over 64 px."""

    def __init__(self, in_place=False):
        super().__init__()
        self.in_place = in_place
        self.mix = nn.Conv3d(1, 1, (1, 7, 7), padding=(0, 3, 3), bias=False)
        nn.init.constant_(self.mix.weight, 1 / 49)

    def forward(self, left, right):
        brightness = F.interpolate(F.avg_pool2d(left, 64), left.shape[2:], mode="bilinear")
        left, right = left - brightness, right - brightness
        if self.in_place:  # as the authors' code makes its cost volume
            volume = left.new().resize_(left.size(0), 1, 12, left.size(2), left.size(3)).zero_()
            for i in range(12):
                volume[:, 0, i, :, i:] = (left[..., i:] - right[..., : right.size(3) - i]).abs().mean(1)
        else:
            moved = (F.pad(right, (i, 0))[..., : right.size(3)] for i in range(12))
            volume = torch.stack([(left - each).abs().mean(1, keepdim=True) for each in moved], dim=2)
        share = torch.softmax(-100 * self.mix(volume)[:, 0], dim=1)
        return (share * torch.arange(12).view(1, 12, 1, 1)).sum(1, keepdim=True)


class Deblur(nn.Module):
    """Cuts the picture into halves along each axis, and divides by 4. A sharp image and the disparity out."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        down, up = nn.Conv2d(7, 4, 4, 4), nn.ConvTranspose2d(4, 1, 4, 4)
        self.small = nn.Sequential(down, nn.ReLU(), up)

    def forward(self, left, right, first):
        both = torch.cat([left, right, first], dim=1)
        h, w = int(both.size(2) / 2), int(both.size(3) / 2)
        upper, lower = both[:, :, :h], both[:, :, h:]
        rows = [torch.cat([self.small(row[..., :w]), self.small(row[..., w:])], dim=3) for row in (upper, lower)]
        return left, first + 0.01 * torch.cat(rows, dim=2)


class Dpnet(nn.Module):
    """Both grey views as two channels in, something of the same size out: an encoder and a decoder, not trained."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.down, self.up = nn.Conv2d(2, 8, 3, 2, 1), nn.Conv2d(10, 1, 3, 1, 1)

    def forward(self, views):
        inner = F.interpolate(F.relu(self.down(views)), views.shape[2:])
        return self.up(torch.cat([views, inner], dim=1))


MODELS = {
    "dddnet": lambda: {"first": First().eval(), "deblur": Deblur().eval()},
    "sfbd": lambda: {"model": Sfbd().eval()},
    "raft": lambda: {"model": Raft().eval()},
    "mine": lambda: {"model": Dpnet().eval()},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A scene whose disparity goes from 1 to 4 px, from top to bottom."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "data/simulated/one"
    place.mkdir(parents=True)
    noise = np.random.default_rng(0).uniform(0, 255, (192, 256, 3)).astype(np.float32)
    right = 4 * (cv2.GaussianBlur(noise, None, 1.5) - 127) + 127
    y, x = np.mgrid[:192, :256].astype(np.float32)
    d = 1 + 3 * y / 191
    left = cv2.remap(right, x - d, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)  # left(x) = right(x - d)
    for name, view in (("l.png", left), ("r.png", right)):
        cv2.imwrite(str(place / name), np.uint8(np.clip(view, 0, 255)))
    np.save(place / "d.npy", d)
    return tmp_path


def run_blocks(network, **models):
    """Run the blocks of the page that export this network, and write its recipe, all as they are printed."""
    names = dict(models)
    for block in blocks_of(PAGE):
        if block.language == "python" and ("# export.py\n" in block.text or f'"{network}.onnx"' in block.text):
            exec(block.text, names)
        elif block.text.startswith(f"# {network}.toml\n"):
            Path(f"{network}.toml").write_text(block.text)


@pytest.mark.parametrize("network", ["dddnet", "sfbd", "raft"])
def test_exports_have_the_sign_and_scale_of_their_recipes(folder, call, network):
    run_blocks(network, **MODELS[network]())
    assert sorted(path.name for path in folder.glob(f"{network}*")) == [f"{network}.onnx", f"{network}.toml"]
    place = folder / "data/simulated/one"
    d, found = np.load(place / "d.npy"), open_network(f"{network}.onnx").disparity(place / "l.png", place / "r.png")
    inner = (slice(16, -16), slice(32, -32))
    assert np.median(np.abs(found - d)[inner]) < 0.5
    assert np.polyfit(d[inner].ravel(), found[inner].ravel(), 1)[0] == pytest.approx(1, abs=0.35)
    code, out, err = call("evaluate", "data", "--dataset", "simulated", "--method", f"onnx:{network}.onnx")
    assert (code, err) == (0, "")
    assert re.search(rf"^onnx:{network}.onnx +\d", out, re.MULTILINE)


def test_the_map_is_that_of_pytorch(folder):
    """On a size that is not that of the example, nor a multiple of 32."""
    models = MODELS["raft"]()
    run_blocks("raft", **models)
    left, right = (np.random.default_rng(i).integers(0, 256, (150, 210, 3), np.uint8) for i in (1, 2))
    padded = (np.pad(view, ((0, 10), (0, 14), (0, 0)), mode="reflect") for view in (left, right))
    with torch.no_grad():
        _, flow = models["model"](*(torch.tensor(v.transpose(2, 0, 1)[None] * 1.0).float() for v in padded), 32, True)
    found = open_network("raft.onnx").disparity(left, right)
    np.testing.assert_allclose(found, -flow[0, 0, :150, :210].numpy(), atol=1e-3)


def test_two_channels_need_no_recipe(folder):
    models = MODELS["mine"]()
    run_blocks("mine", **models)
    views = np.random.default_rng(0).integers(0, 256, (2, 90, 110), np.uint8)
    with torch.no_grad():
        wanted = models["model"](torch.tensor(views[None] / np.float32(255)))
    np.testing.assert_allclose(open_network("mine.onnx").disparity(*views), wanted[0, 0].numpy(), atol=1e-5)


def test_a_cost_volume_that_is_resized_cannot_be_exported(folder):
    """What the page says about it: the exporter fails, so the model must be changed."""
    with pytest.raises(torch.onnx.errors.OnnxExporterError):
        run_blocks("dddnet", first=First(in_place=True).eval(), deblur=Deblur().eval())
