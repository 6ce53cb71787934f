# An image for the workers of a cluster. Build it in the root of the project: docker build -f docs/worker.Dockerfile .
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /dualpix
RUN pip install '/dualpix[cluster,s3,raw]'
