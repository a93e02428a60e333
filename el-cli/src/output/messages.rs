//! Human output of messages.

use el_core::model::{Message, Timestamp};

use super::page::Page;
use super::{sanitize, style, time};

/// `gendry in #general · 3m ago`, followed by the text. `is_new` puts the boards' word in front.
pub(crate) fn print_message(
    page: &mut Page,
    message: &Message,
    is_new: bool,
    in_channel: bool,
    now: Timestamp,
) {
    if page.is_quiet() {
        return page.push_line(&message.id);
    }
    let mark = if is_new { format!("{} ", page.paint(style::TITLE, "new")) } else { String::new() };
    let author = page.paint(style::PERSON, &sanitize::one_line(&message.author));
    let place = if in_channel {
        String::new()
    } else {
        format!(" in {}", page.paint(style::LABEL, &format!("#{}", message.channel)))
    };
    let when =
        page.paint(style::DIM, &format!("· {}", time::relative_time(now, message.created_at)));
    page.push_line(format!("{mark}{author}{place} {when}"));
    page.push_paragraph(&message.content, 2);
}

/// Several messages, separated by blank lines.
pub(crate) fn print_all<'a>(
    page: &mut Page,
    messages: impl Iterator<Item = (&'a Message, bool)>,
    in_channel: bool,
    now: Timestamp,
) {
    for (at, (message, is_new)) in messages.enumerate() {
        if at > 0 && !page.is_quiet() {
            page.push_blank();
        }
        print_message(page, message, is_new, in_channel, now);
    }
}
