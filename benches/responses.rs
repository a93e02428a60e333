//! Measures how long reading a model's answer takes, for docs/performance.md:
//! `cargo bench -p el-core --bench responses`.
//!
//! Machines are shared and noisy: read the minimum, and how it grows with the text. Each shape is
//! read at 1, 5 and 10 MB.

#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use el_core::model::Phase;
use el_core::protocol::response::{END, START, Scanner, read_blocks, select_answer};

const TIMES: usize = 7;

/// A name, how a text of about so many bytes is made, and in pieces of how many bytes it comes.
type Shape = (&'static str, fn(usize) -> String, Option<usize>);

const SHAPES: [Shape; 8] = [
    ("one completion with a long text", long_text, None),
    ("the same, in pieces of 4 KB", long_text, Some(4 << 10)),
    ("prose, then an analysis", prose, None),
    ("4 000 tasks to the MB", tasks, None),
    ("the same with a slip in each line", slips, None),
    ("progress blocks", blocks, None),
    ("blocks that never close their texts, on one line", open_texts, None),
    ("end delimiters within one text, in pieces of 1 KB", ends_in_a_text, Some(1 << 10)),
];

fn main() {
    println!("| text | 1 MB, ms | 5 MB, ms | 10 MB, ms | blocks at 10 MB |");
    println!("|---|---|---|---|---|");
    for (name, make, piece) in SHAPES {
        let mut row = format!("| {name} |");
        let mut blocks = 0;
        for megabytes in [1, 5, 10] {
            let text = make(megabytes * 1_000_000);
            let (time, found) = measure(&text, piece);
            row.push_str(&format!(" {:.1} |", time.as_secs_f64() * 1e3));
            blocks = found;
        }
        println!("{row} {blocks} |");
    }
}

fn measure(text: &str, piece: Option<usize>) -> (Duration, usize) {
    let mut least = Duration::MAX;
    let mut blocks = 0;
    for _ in 0..TIMES {
        let begin = Instant::now();
        let reading = match piece {
            None => read_blocks(black_box(text)),
            Some(len) => {
                let mut scanner = Scanner::default();
                let mut rest = text;
                while !rest.is_empty() {
                    let (head, tail) = rest.split_at(len.min(rest.len()));
                    scanner.push(black_box(head));
                    rest = tail;
                }
                scanner.finish()
            }
        };
        black_box(select_answer(&reading, Phase::TaskList, None));
        least = least.min(begin.elapsed());
        blocks = reading.blocks.len();
    }
    (least, blocks)
}

fn block(json: &str) -> String {
    format!("{START}\n{json}\n{END}\n")
}

fn long_text(bytes: usize) -> String {
    let words = "A line of the output.\\n".repeat(bytes / 23);
    block(&format!(
        "{{\"phase\": \"completion\", \"data\": \
         {{\"task_id\": \"a\", \"status\": \"success\", \"output\": \"{words}\"}}}}"
    ))
}

fn prose(bytes: usize) -> String {
    let prose =
        "Looking at `Vec<Option<&str>>` in src/lib.rs, << and > included.\n".repeat(bytes / 66);
    prose + &block(r#"{"phase": "analysis", "data": {"summary": "x", "recommended_splits": 3}}"#)
}

fn list(bytes: usize, item: &str) -> String {
    let count = bytes / 250;
    let items: Vec<String> = (0..count).map(|n| item.replace('#', &n.to_string())).collect();
    block(&format!(
        "{{\"phase\": \"task_list\", \"data\": {{\"tasks\": [\n{}\n]}}}}",
        items.join(",\n")
    ))
}

fn tasks(bytes: usize) -> String {
    let words = "word ".repeat(28);
    list(
        bytes,
        &format!(
            "{{\"id\": \"task_#\", \"title\": \"Part #\", \"description\": \"{words}\", \"scope\": \
             [\"src/a.rs\"], \"priority\": 5}}"
        ),
    )
}

fn slips(bytes: usize) -> String {
    let words = "word ".repeat(28);
    list(
        bytes,
        &format!(
            "{{id: \"task_#\", 'title': \"Part #\", \"description\": \"{words}\", \"scope\": \
             [\"src/a.rs\",], \"done\": False}}"
        ),
    )
}

fn blocks(bytes: usize) -> String {
    let words = "word ".repeat(180);
    let one = block(&format!(
        "{{\"phase\": \"progress\", \"data\": \
         {{\"task_id\": \"a\", \"status\": \"in_progress\", \"current_action\": \"{words}\"}}}}"
    ));
    one.repeat(bytes / one.len())
}

fn open_texts(bytes: usize) -> String {
    let one = format!("{START}{{\"a\":\"{}{END}", "word ".repeat(180));
    one.repeat(bytes / one.len())
}

fn ends_in_a_text(bytes: usize) -> String {
    format!(
        "{START}{{\"phase\": \"analysis\", \"data\": \
         {{\"summary\": \"{}\", \"recommended_splits\": 3}}}}{END}",
        format!("{END} ").repeat(bytes / 32)
    )
}
