//! Human output of comments.

use el_core::model::{Comment, Timestamp};

use super::page::Page;
use super::{sanitize, style, time};

pub(crate) fn print(page: &mut Page, comments: &[Comment], now: Timestamp) {
    for (at, comment) in comments.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        let author = page.paint(style::PERSON, &sanitize::line(&comment.author));
        let when =
            page.paint(style::DIM, &format!("· {}", time::relative(now, comment.created_at)));
        page.line(format!("  {author} {when}"));
        page.paragraph(&comment.content, 4);
    }
}
