#!/usr/bin/env bash
# Checks whether this machine can build and run the containers, before the build, which takes half an hour: Docker,
# Compose, the GPU and NVIDIA's container toolkit, the token, room, and the images that the build starts from.
#
#   deploy/check.sh          a machine with a GPU
#   deploy/check.sh --cpu    without one (docker-compose.cpu.yml)
#
# Prints a line for each check. Exit code 0: all is well; 1: a line that begins with FAULT says what is missing and what
# to do. It changes nothing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

gpu=1
case "${1:-}" in
    "") ;;
    --cpu) gpu=0 ;;
    --help | -h)
        sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *)
        sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 64
        ;;
esac

faults=0
ok() { echo "ok     $*"; }
fault() {
    echo "FAULT  $*"
    faults=$((faults + 1))
}

# Compose in either form, and the version that the file needs.
compose() {
    local version
    version=$(docker compose version --short 2>/dev/null) || version=$(docker-compose version --short 2>/dev/null) || {
        fault "no Docker Compose: install docker-compose-plugin (https://docs.docker.com/compose/install)"
        return
    }
    if printf '1.29\n%s\n' "${version#v}" | sort --version-sort --check=quiet; then
        ok "Docker Compose $version"
    else
        fault "Docker Compose $version is too old: 1.29 or newer"
    fi
}

# The driver on the host, and the toolkit that hands the GPU to containers.
nvidia() {
    local driver
    if ! driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || [ -z "$driver" ]; then
        fault "nvidia-smi finds no GPU: install NVIDIA's driver, 580 or newer; or run without one: deploy/check.sh --cpu"
    elif [ "${driver%%.*}" -lt 580 ]; then
        fault "the NVIDIA driver is $driver, too old for CUDA 13: install 580 or newer"
    else
        ok "NVIDIA driver $driver"
    fi
    if docker info --format '{{json .Runtimes}}' 2>/dev/null | grep --quiet '"nvidia"'; then
        ok "Docker has the runtime nvidia"
    else
        fault "Docker has no runtime nvidia, and would end with \"unknown runtime specified nvidia\": install the NVIDIA" \
            "Container Toolkit (apt-get install nvidia-container-toolkit, from NVIDIA's repository), then:" \
            "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
    fi
}

token() {
    local file=${ALVEARE_TOKEN_FILE:-deploy/secrets/token}
    if [ -f "$file" ] && [ -s "$file" ]; then
        ok "token in $file"
    else
        fault "no token in $file: mkdir -p deploy/secrets && head -c 32 /dev/urandom | base64 > deploy/secrets/token"
    fi
}

# libtorch with CUDA, the build and the images; a run of weeks comes on top.
room() {
    local root gibibytes need=$((gpu ? 40 : 15))
    root=$(docker info --format '{{.DockerRootDir}}' 2>/dev/null)
    [ -d "$root" ] || root=/
    gibibytes=$(df --output=avail --block-size=1G "$root" | tail -n 1 | tr -d ' ')
    if [ "$gibibytes" -ge "$need" ]; then
        ok "$gibibytes GiB free in $root"
    else
        fault "$gibibytes GiB free in $root: the build needs $need; \`docker system prune\` frees what is not used"
    fi
}

# What the build starts from: here already, or in a registry that can be reached.
images() {
    local image
    for image in "${BUILD_IMAGE:-rust:1.95-bookworm}" "${BASE_IMAGE:-debian:bookworm-slim}"; do
        if docker image inspect "$image" >/dev/null 2>&1; then
            ok "image $image"
        elif timeout 30 docker manifest inspect "$image" >/dev/null 2>&1; then
            ok "image $image, to be fetched"
        else
            fault "image $image is neither here nor in a registry that can be reached: sudo deploy/make-base-image.sh makes" \
                "both, then export BUILD_IMAGE=alveare-build:bookworm BASE_IMAGE=alveare-base:bookworm"
        fi
    done
}

port() {
    local name=$1 address=$2
    if timeout 2 bash -c "exec 3<>'/dev/tcp/${address%:*}/${address##*:}'" 2>/dev/null; then
        fault "something listens on $address already: set $name to another address"
    else
        ok "$address is free ($name)"
    fi
}

if ! command -v docker >/dev/null; then
    fault "no Docker: install Docker Engine (https://docs.docker.com/engine/install)"
elif ! docker info >/dev/null 2>&1; then
    fault "Docker does not answer: is it started (sudo systemctl start docker), and may you use it (group docker)?"
else
    ok "Docker $(docker version --format '{{.Server.Version}}' 2>/dev/null)"
    compose
    [ "$gpu" = 0 ] || nvidia
    room
    images
fi
token
port ALVEARE_PUBLISH "${ALVEARE_PUBLISH:-127.0.0.1:50051}"
port ALVEARE_PUBLISH_PAGE "${ALVEARE_PUBLISH_PAGE:-127.0.0.1:8080}"
[ "$faults" = 0 ]
