//! Human output of comments.

use el_core::model::{Comment, Timestamp};

use super::page::Page;
use super::{sanitize, style, time};

pub(crate) fn print_comments(page: &mut Page, comments: &[Comment], now: Timestamp) {
    for (at, comment) in comments.iter().enumerate() {
        if at > 0 {
            page.push_blank();
        }
        let author = page.paint(style::PERSON, &sanitize::one_line(&comment.author));
        let when =
            page.paint(style::DIM, &format!("· {}", time::relative_time(now, comment.created_at)));
        page.push_line(format!("  {author} {when}"));
        page.push_paragraph(&comment.content, 4);
    }
}
