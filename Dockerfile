# docker build -t casement .
# docker run -p 127.0.0.1:7077:7077 -v casement:/data casement
FROM debian:12-slim AS build
WORKDIR /src
COPY scripts/install-deps scripts/
RUN scripts/install-deps --build-only
COPY . .
RUN cmake --preset release -DCASEMENT_TESTS=OFF \
 && cmake --build --preset release --target casementd casement

FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates tzdata \
      libgrpc++1.51 libprotobuf32 libleveldb1d libspdlog1.10 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 7077 casement \
 && useradd --uid 7077 --gid 7077 --no-create-home --home-dir /data \
      --shell /usr/sbin/nologin casement \
 && install -d -o casement -g casement -m 0750 /data
COPY --from=build /src/build/release/bin/casementd \
     /src/build/release/bin/casement /usr/local/bin/
USER 7077:7077
VOLUME /data
EXPOSE 7077
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["casement", "server", "info"]
ENTRYPOINT ["casementd"]
# There is no TLS: publish the port to hosts that you trust only.
CMD ["--data_dir=/data", "--listen=0.0.0.0:7077", "--insecure"]
