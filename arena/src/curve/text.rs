//! A curve as a table for people and as CSV (RFC 4180) for programs.

use std::fmt::Write;

use super::points::{Curve, CurvePoint};

/// Returns the table: a line a network, run by run.
#[must_use]
pub fn table(curves: &[Curve], opponents: &[String], anchor: &str) -> String {
    let width = curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or_default().max(3);
    let mut text =
        format!("{:width$}  generation  network     PFLOP     games     steps    Elo      95 %       ", "run");
    for opponent in opponents {
        let _ = write!(text, "  {opponent}");
    }
    text.push('\n');
    for (curve, point) in lines(curves) {
        let CurvePoint { network, elo, margin, scores, .. } = point;
        let pflop = network.pflop.map_or("unknown".to_owned(), |pflop| format!("{pflop:.4}"));
        let interval = format!("{:+.0} to {:+.0}", elo - margin, elo + margin);
        let _ = write!(
            text,
            "{:width$}  {:>10}  {:>7}  {pflop:>8}  {:>8}  {:>8}  {elo:>+5.0}  {interval:>16}",
            curve.name, network.generation, network.network_id, network.game_count, network.training_step
        );
        for (opponent, score) in opponents.iter().zip(scores) {
            let _ = write!(text, "  {:>1$.3}", score.score(), opponent.chars().count().max(5));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "Elo counts from {anchor}");
    text
}

/// Returns the same as CSV, with the games won, drawn and lost against each opponent. An unknown cost is empty.
#[must_use]
pub fn csv(curves: &[Curve], opponents: &[String]) -> String {
    let mut text = "run,generation,network,pflop,self_play_games,training_steps,elo,elo_low,elo_high".to_owned();
    for opponent in opponents {
        for result in ["won", "drawn", "lost"] {
            let _ = write!(text, ",{}", field(&format!("{opponent} {result}")));
        }
    }
    text.push_str("\r\n");
    for (curve, point) in lines(curves) {
        let CurvePoint { network, elo, margin, scores, .. } = point;
        let pflop = network.pflop.map_or(String::new(), |pflop| pflop.to_string());
        let _ = write!(
            text,
            "{},{},{},{pflop},{},{},{elo:.1},{:.1},{:.1}",
            field(&curve.name),
            network.generation,
            network.network_id,
            network.game_count,
            network.training_step,
            elo - margin,
            elo + margin
        );
        for score in scores {
            let _ = write!(text, ",{},{},{}", score.wins, score.draws, score.losses);
        }
        text.push_str("\r\n");
    }
    text
}

fn lines(curves: &[Curve]) -> impl Iterator<Item = (&Curve, &CurvePoint)> {
    curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point)))
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
pub(super) mod tests {
    use shared::gate::GateScore;
    use shared::ids::{Generation, NetworkId};

    use super::*;
    use crate::curve::RunNetwork;

    /// Two networks of one run; the cost of the second is unknown.
    pub(in crate::curve) fn curve(name: &str) -> Curve {
        let point = |generation: u32, pflop: Option<f64>, elo| CurvePoint {
            network: RunNetwork {
                network_id: NetworkId::new(generation + 1).expect("from 1"),
                generation: Generation::new(generation),
                file: "network".into(),
                training_step: 100,
                game_count: 64,
                pflop,
            },
            place: f64::from(generation),
            elo,
            margin: 50.0,
            scores: vec![GateScore { wins: 3, draws: 1, losses: 0 }],
        };
        Curve { name: name.to_owned(), points: vec![point(0, Some(0.0), 10.0), point(4, None, 210.0)] }
    }

    #[test]
    fn a_line_a_network() {
        let opponents = ["random".to_owned()];
        let text = table(&[curve("run")], &opponents, "random");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("run  generation  network") && lines[0].ends_with("  random"), "{text}");
        assert!(lines[1].ends_with("0.0000        64       100    +10        -40 to +60   0.875"), "{text}");
        assert!(lines[2].contains("unknown") && lines[2].contains("+160 to +260"), "{text}");
        assert_eq!(lines[3], "Elo counts from random");
    }

    #[test]
    fn csv_can_be_read_by_programs() {
        let text = csv(&[curve("a \"b\", c")], &["ready@100,1".to_owned()]);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert!(lines[0].ends_with(r#","ready@100,1 won","ready@100,1 drawn","ready@100,1 lost""#), "{text}");
        assert_eq!(lines[1], r#""a ""b"", c",0,1,0,64,100,10.0,-40.0,60.0,3,1,0"#);
        assert_eq!(lines[2], r#""a ""b"", c",4,5,,64,100,210.0,160.0,260.0,3,1,0"#);
    }
}
