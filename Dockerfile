# The image of Weir: the executable, the C library that it links to, and nothing else, not even a shell.
#
#   bun run build
#   docker build --tag weir .
#   docker run --publish 9347:9347 --volume weir:/data --stop-timeout 35 weir
#
# Weir stops within 30 seconds (“weir serve --drain”): Docker must not kill it after its usual 10.
# Settings are read from /data/weir.yaml. The root file system may be read-only.
# Another executable of “bun run build --all”: --build-arg EXECUTABLE=dist/weir-linux-arm64 --platform linux/arm64
FROM debian:12-slim AS files
ARG EXECUTABLE=dist/weir
COPY --chmod=755 ${EXECUTABLE} /image/usr/local/bin/weir
COPY LICENSE NOTICE /image/usr/share/doc/weir/
# The libraries and the loader of glibc with their licence, a user without rights, and a folder for the data:
# a new volume takes over its owner.
RUN ldd /image/usr/local/bin/weir | grep --only-matching '/[^ ]*' | \
      xargs cp --dereference --parents --target-directory=/image /usr/share/doc/libc6/copyright && \
    install --directory --mode=1777 /image/tmp && \
    install --directory --owner=65532 --group=65532 --mode=700 /image/data && \
    install --directory /image/etc && \
    echo 'weir:x:65532:65532:weir:/data:/sbin/nologin' >/image/etc/passwd && \
    echo 'weir:x:65532:' >/image/etc/group

FROM scratch
COPY --from=files /image /
ENV PATH=/usr/local/bin HOME=/data WEIR_HOST=0.0.0.0 WEIR_PORT=9347 WEIR_DATA=/data
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 9347
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s --retries=3 CMD ["weir", "health"]
ENTRYPOINT ["weir"]
CMD ["serve"]
