//! The atoms that a worker can take.

use super::Query;

impl Query {
    /// Only atoms that need nothing but these offers; `None`: all.
    pub(super) fn add_offers(&mut self, offers: Option<&[String]>) {
        let Some(offers) = offers else { return };
        if offers.is_empty() {
            self.conditions.push("a.needs IS NULL".to_owned());
            return;
        }
        let names: Vec<String> =
            offers.iter().map(|offer| self.bind_value(offer.clone().into())).collect();
        self.conditions.push(format!(
            "(a.needs IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(a.needs) n
               WHERE n.value NOT IN ({})))",
            names.join(",")
        ));
    }
}
