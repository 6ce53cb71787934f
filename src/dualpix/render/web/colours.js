// Colours of maps, from far to near. Turbo is that of the previews which the command writes.
const Colours = (() => {
  const TURBO =
    "30123b32154333184a341b51351e5836215f37246638276d392a733a2d793b2f803c32863d358b3e38913f3b973f3e9c4040a24143a7" +
    "4146ac4249b1424bb5434eba4451bf4454c34456c74559cb455ccf455ed34661d64664da4666dd4669e0466be3476ee64771e94773eb" +
    "4776ee4778f0477bf2467df44680f64682f84685fa4687fb458afc458cfd448ffe4391fe4294ff4196ff4099ff3e9bfe3d9efe3ba0fd" +
    "3aa3fc38a5fb37a8fa35abf833adf731aff52fb2f42eb4f22cb7f02ab9ee28bceb27bee925c0e723c3e422c5e220c7df1fc9dd1ecbda" +
    "1ccdd81bd0d51ad2d21ad4d019d5cd18d7ca18d9c818dbc518ddc218dec018e0bd19e2bb19e3b91ae4b61ce6b41de7b21fe9af20eaac" +
    "22ebaa25eca727eea42aefa12cf09e2ff19b32f29835f39438f4913cf58e3ff68a43f78746f8844af8804ef97d52fa7a55fa7659fb73" +
    "5dfc6f61fc6c65fd6969fd666dfe6271fe5f75fe5c79fe597dff5680ff5384ff5188ff4e8bff4b8fff4992ff4796fe4499fe429cfe40" +
    "9ffd3fa1fd3da4fc3ca7fc3aa9fb39acfb38affa37b1f936b4f836b7f735b9f635bcf534bef434c1f334c3f134c6f034c8ef34cbed34" +
    "cdec34d0ea34d2e935d4e735d7e535d9e436dbe236dde037dfdf37e1dd37e3db38e5d938e7d739e9d539ebd339ecd13aeecf3aefcd3a" +
    "f1cb3af2c93af4c73af5c53af6c33af7c13af8be39f9bc39faba39fbb838fbb637fcb336fcb136fdae35fdac34fea933fea732fea431" +
    "fea130fe9e2ffe9b2dfe992cfe962bfe932afe9029fd8d27fd8a26fc8725fc8423fb8122fb7e21fa7b1ff9781ef9751df8721cf76f1a" +
    "f66c19f56918f46617f36315f26014f15d13f05b12ef5811ed5510ec530feb500eea4e0de84b0ce7490ce5470be4450ae2430ae14109" +
    "df3f08dd3d08dc3b07da3907d83706d63506d43305d23105d02f05ce2d04cc2b04ca2a04c82803c52603c32503c12302be2102bc2002" +
    "b91e02b71d02b41b01b21a01af1801ac1701a91601a71401a41301a112019e10019b0f01980e01950d01920b018e0a018b0902880802" +
    "8507028106027e05027a0403";
  const byte = (at, channel) => parseInt(TURBO.substr(6 * at + 2 * channel, 2), 16);
  const KINDS = {
    turbo: at => [byte(at, 0), byte(at, 1), byte(at, 2)],
    grey: at => [at, at, at],
  };

  // 256 colours, RGBA.
  function ramp(kind) {
    const out = new Uint8Array(1024).fill(255);
    for (let at = 0; at < 256; at++) out.set(KINDS[kind](at), 4 * at);
    return out;
  }

  // The same colours on a canvas, as a legend.
  function paint(canvas, kind) {
    canvas.width = 256;
    canvas.height = 1;
    canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(ramp(kind)), 256, 1), 0, 0);
  }

  return {ramp, paint, kinds: [["turbo", "Turbo"], ["grey", "Grey"]]};
})();
