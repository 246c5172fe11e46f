//! Trial: one convolution on active cells in 8 bits, 16 and 32.
use std::time::Instant;
use tch::{Kind, Tensor, Device};
fn time(name: &str, mut f: impl FnMut()) {
    for _ in 0..20 { f(); }
    let mut times: Vec<f64> = (0..300).map(|_| { let t = Instant::now(); f(); t.elapsed().as_secs_f64() * 1e6 }).collect();
    times.sort_by(f64::total_cmp);
    println!("{name:40} min {:8.1} us median {:8.1} us", times[0], times[150]);
}
fn main() {
    tch::set_num_threads(1);
    let _g = tch::no_grad_guard();
    for (rows, taps, c) in [(1024_i64, 7_i64, 64_i64), (640, 7, 64), (1024, 7, 256), (512, 5, 32)] {
        println!("rows {rows}, taps {taps}, filters {c}");
        let x = Tensor::rand([rows, taps * c], (Kind::Float, Device::Cpu));
        let w = Tensor::randn([c, taps * c], (Kind::Float, Device::Cpu));
        let b = Tensor::randn([c], (Kind::Float, Device::Cpu));
        let index = Tensor::randint(rows, [rows * taps, 1], (Kind::Int64, Device::Cpu));
        for kind in [Kind::Float, Kind::BFloat16] {
            let (x, w, b) = (x.to_kind(kind), w.to_kind(kind).tr(), b.to_kind(kind));
            let out = Tensor::empty([rows, c], (kind, Device::Cpu));
            time(&format!("{kind:?} addmm"), || { let _ = b.addmm_out(&out, &x, &w); });
            let cells = Tensor::rand([rows + 1, c], (Kind::Float, Device::Cpu)).to_kind(kind);
            let g = Tensor::empty([rows * taps, c], (kind, Device::Cpu));
            time(&format!("{kind:?} gather"), || { let _ = cells.gather_out(&g, 0, &index.expand([-1, c], false), false); });
            let mut o = Tensor::randn([rows, c], (Kind::Float, Device::Cpu)).to_kind(kind);
            time(&format!("{kind:?} relu"), || { let _ = o.relu_(); });
        }
        let xi = (&x * 127.0).to_kind(Kind::Int8);
        let wi = (&w * 40.0).clamp(-127, 127).to_kind(Kind::Int8).tr();
        match xi.f_internal_int_mm(&wi) {
            Err(e) => println!("int_mm: {e}"),
            Ok(_) => time("int8 _int_mm", || { let _ = xi.internal_int_mm(&wi); }),
        }
        let wc = wi.contiguous();
        time("int8 _int_mm, weight contiguous", || { let _ = xi.internal_int_mm(&wc); });
        let cells = (Tensor::rand([rows + 1, c], (Kind::Float, Device::Cpu)) * 127.0).to_kind(Kind::Int8);
        let g = Tensor::empty([rows * taps, c], (Kind::Int8, Device::Cpu));
        time("int8 gather", || { let _ = cells.gather_out(&g, 0, &index.expand([-1, c], false), false); });
        // A row of 8-bit numbers as 64-bit words: the same bytes.
        let wide = cells.view_dtype(Kind::Int64);
        let gw = Tensor::empty([rows * taps, c / 8], (Kind::Int64, Device::Cpu));
        time("int8 gather as words", || { let _ = wide.gather_out(&gw, 0, &index.expand([-1, c / 8], false), false); });
        time("int8 index_select as words", || { let _ = wide.index_select(0, &index.view([-1])); });
        let acc = xi.internal_int_mm(&wi);
        let scale = Tensor::rand([c], (Kind::Float, Device::Cpu));
        time("requantise: x*s+b, clamp, to int8", || {
            let y = scale.addcmul(&acc.to_kind(Kind::Float), &scale);
            let _ = y.clamp(0, 127).to_kind(Kind::Int8);
        });
    }
}
