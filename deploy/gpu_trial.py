"""Peaks of this card, and what changes to Alveare's GPU path would give, in PyTorch 2.11 (the same libtorch).

Unproven: it has not run on a GPU yet.

Frames as net/src/model.rs runs them (conv2d with bias, relu_, add_, relu_), the same with cuDNN's fused calls, and
the trunk of active cells as net/src/grid.rs runs it (pad, embedding, linear, relu_), with gather, with a fused epilogue, and
as a CUDA graph. Random data, median of several runs, about two minutes.
"""
import os, sys, time
import torch
import torch.nn.functional as F

assert torch.cuda.is_available(), "no GPU"
BUDGET = float(os.environ.get("TRIAL_SECONDS", 150))
START = time.time()
torch.backends.cudnn.benchmark = True
D, H = "cuda", torch.float16
torch.manual_seed(1)


def timed(work, least=0.25, runs=5):
    """Median seconds of one call."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    a, b = torch.cuda.Event(True), torch.cuda.Event(True)
    a.record(); work(); b.record(); torch.cuda.synchronize()
    count = max(1, min(200, int(least / runs / max(a.elapsed_time(b) / 1e3, 1e-6))))
    seen = []
    for _ in range(runs):
        a.record()
        for _ in range(count):
            work()
        b.record(); torch.cuda.synchronize()
        seen.append(a.elapsed_time(b) / 1e3 / count)
    return sorted(seen)[len(seen) // 2]


def late(share):
    return time.time() - START > BUDGET * share


name = torch.cuda.get_device_name(0)
peak = {}
for kind in (torch.float16, torch.bfloat16):
    x, y = (torch.randn(8192, 8192, device=D, dtype=kind) for _ in range(2))
    peak[kind] = 2 * 8192**3 / timed(lambda: x @ y)
PEAK = peak[H]
big = torch.randn(1 << 28, device=D)
copy = 2 * big.numel() * 4 / timed(lambda: big.clone())
del big, x, y
host, pinned = torch.randn(1024 * 24 * 256), torch.randn(1024 * 24 * 256).pin_memory()
up = {n: host.numel() * 4 / timed(lambda t=t: t.to(D, non_blocking=True)) for n, t in (("pageable", host), ("pinned", pinned))}
print(f"{name}: matmul fp16 {PEAK/1e12:.0f} bf16 {peak[torch.bfloat16]/1e12:.0f} TFLOP/s, copy {copy/1e12:.2f} TB/s, "
      f"upload of 25 MB pageable {up['pageable']/1e9:.1f} pinned {up['pinned']/1e9:.1f} GB/s")


def last(t):
    return t.to(memory_format=torch.channels_last)


def frame(blocks, filters, size):
    conv = lambda i: (last(torch.randn(filters, i, 3, 3, device=D, dtype=H) * (2 / 9 / i) ** 0.5), torch.randn(filters, device=D, dtype=H) * 0.01)
    first, body = conv(24), [(conv(filters), conv(filters)) for _ in range(blocks)]

    def today(x):
        t = F.conv2d(x, *first, padding=1).relu_()
        for a, b in body:
            t = F.conv2d(F.conv2d(t, *a, padding=1).relu_(), *b, padding=1).add_(t).relu_()
        return t

    one = ((1, 1), (1, 1), (1, 1), 1)

    def fused(x):
        t = torch.cudnn_convolution_relu(x, *first, *one)
        for a, b in body:
            t = torch.cudnn_convolution_add_relu(torch.cudnn_convolution_relu(t, *a, *one), b[0], t, 1.0, b[1], *one)
        return t

    flops = 2 * 9 * size * size * (24 * filters + 2 * blocks * filters * filters)
    return today, fused, flops


def line(what, batch, seconds, flops, extra=""):
    print(f"{what:34} batch {batch:5}: {batch/seconds:10.0f} evals/s {batch*flops/seconds/1e12:6.0f} TFLOP/s "
          f"{100*batch*flops/seconds/PEAK:4.0f} % of matmul {extra}", flush=True)


with torch.no_grad():
    print("\nframes, fp16, channels last")
    for blocks, filters, size, batches in ((19, 256, 16, (64, 128, 256, 384, 512, 1024, 2048)), (19, 256, 26, (64, 256, 1024)),
                                           (19, 256, 12, (256, 1024)), (10, 128, 16, (256, 1024)), (6, 64, 16, (256, 1024))):
        today, fused, flops = frame(blocks, filters, size)
        for batch in batches:
            if late(0.45):
                break
            x = last(torch.rand(batch, 24, size, size, device=D, dtype=H))
            s = timed(lambda: today(x))
            try:
                a, b = today(x).float(), fused(x).float()
                f, err = timed(lambda: fused(x)), ((a - b).norm() / a.norm()).item()
                extra = f"| fused {batch/f:8.0f} ({s/f:.2f}x, differs {err:.1e})"
            except Exception as error:  # an engine that is not there says so
                extra = f"| fused: {str(error).splitlines()[0][:60]}"
            line(f"{blocks}x{filters} at {size}x{size}", batch, s, flops, extra)
        torch.cuda.empty_cache()

    print("\nactive cells, fp16")

    def cells(blocks, filters, batch, count):
        n = batch * count
        index = torch.randint(0, n, (n, 7), device=D)
        index[torch.rand(n, 7, device=D) < 0.35] = n  # neighbours that are not active
        index[:, 0] = torch.arange(n, device=D)
        flat = index.reshape(-1)
        lin = lambda i: (torch.randn(filters, 7 * i, device=D, dtype=H) * (2 / 7 / i) ** 0.5, torch.randn(filters, device=D, dtype=H) * 0.01)
        first, body = lin(24), [(lin(filters), lin(filters)) for _ in range(blocks)]
        embed = lambda p: F.embedding(flat, p).view(n, -1)
        gather = lambda p: p.gather(0, flat.view(-1, 1).expand(-1, p.shape[1])).view(n, -1)

        def net(x, take, epilogue):
            def conv(t, w, res=None):
                g = take(F.pad(t, (0, 0, 0, 1)))
                if res is not None:
                    return F.linear(g, *w).add_(res).relu_()
                return torch._addmm_activation(w[1], g, w[0].t()) if epilogue else F.linear(g, *w).relu_()
            t = conv(x, first)
            for a, b in body:
                t = conv(conv(t, a), b, t)
            return t

        x = torch.rand(n, 24, device=D, dtype=H)
        flops = 2 * 7 * count * (24 * filters + 2 * blocks * filters * filters)
        today = lambda: net(x, embed, False)
        s = timed(today)
        g = timed(lambda: net(x, gather, False))
        try:
            e = timed(lambda: net(x, gather, True))
        except Exception as error:
            e, _ = float("nan"), print(str(error).splitlines()[0])
        graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(2):
                net(x, gather, True)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            net(x, gather, True)
        c = timed(graph.replay)
        line(f"{blocks}x{filters}, {count} cells", batch, s, flops, f"| gather {batch/g:8.0f} +epilogue {batch/e:8.0f} +graph {batch/c:8.0f}")

    for blocks, filters, count, batches in ((19, 256, 40, (64, 128, 256, 512, 1024, 2048)), (19, 256, 60, (256, 1024)),
                                            (10, 128, 40, (256, 1024)), (6, 64, 40, (256, 1024))):
        for batch in batches:
            if late(0.8):
                break
            cells(blocks, filters, batch, count)
        torch.cuda.empty_cache()

print("\ntraining step, 19x256 at 16x16, batch 512 (forward, backward; weights f32)")
for kind in (torch.float32, torch.bfloat16):
    if late(1.0):
        break
    weights = [(torch.randn(256, i, 3, 3, device=D) * (2 / 9 / i) ** 0.5).requires_grad_() for i in [24] + [256] * 38]
    norms = [tuple(torch.ones(256, device=D).mul_(v).requires_grad_() for v in (1.0, 0.0)) for _ in weights]
    x = last(torch.rand(512, 24, 16, 16, device=D).to(kind))

    def unit(t, k):
        return F.batch_norm(F.conv2d(t, weights[k].to(kind), padding=1), None, None, *norms[k], True)

    def step():
        t = unit(x, 0).relu_()
        for k in range(19):
            t = unit(unit(t, 2 * k + 1).relu_(), 2 * k + 2).add_(t).relu_()
        torch.autograd.grad(t.float().mean(), weights + [p for n in norms for p in n])

    s = timed(step, least=1.0, runs=3)
    print(f"   {str(kind):15} {s*1e3:7.1f} ms a step, {512/s:7.0f} samples/s, {3*512*11.5e9/s/1e12:5.0f} TFLOP/s", flush=True)
print(f"trial took {time.time() - START:.0f} s")
