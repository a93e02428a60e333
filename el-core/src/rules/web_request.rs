//! The conditions that a request to the web board must meet before anything is done for it.
//!
//! A page of any site can make a browser send requests to this machine, by a name that it has led
//! here too (DNS rebinding), and with our cookie from any other port of it. Hence the names, the
//! origin and the kind of each request are judged.

/// The head of a request.
#[derive(Debug, Clone, Default)]
pub struct RequestHead<'a> {
    pub method: &'a str,
    /// The host in the request's target, if it names one.
    pub authority: Option<&'a [u8]>,
    /// Names in lower case, with values.
    pub headers: Vec<(&'a str, &'a [u8])>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFault {
    /// A header is there twice.
    Header,
    /// It is meant for another host.
    Host,
    Method,
    /// It comes from another site or program.
    Origin,
    /// A change that is not JSON, or without the board's own header.
    Form,
}

impl<'a> RequestHead<'a> {
    /// The value of a header that may come once.
    fn only_value(&self, name: &str) -> Result<Option<&'a [u8]>, RequestFault> {
        let mut values = self.headers.iter().filter(|(known, _)| *known == name);
        let first = values.next().map(|(_, value)| *value);
        match values.next() {
            Some(_) => Err(RequestFault::Header),
            None => Ok(first),
        }
    }

    /// Refuses what is not a request of the board's own page. `is_host` knows the board's names.
    ///
    /// # Errors
    ///
    /// If a page of another site could have sent it, or if it is no request of ours.
    pub fn judge(&self, is_host: impl Fn(&[u8]) -> bool) -> Result<(), RequestFault> {
        let host = self.only_value("host")?.unwrap_or_default();
        if !is_host(host) || self.authority.is_some_and(|named| named != host) {
            return Err(RequestFault::Host);
        }
        let is_write = self.method == "POST";
        if !is_write && self.method != "GET" {
            return Err(RequestFault::Method);
        }
        let is_ours = self.only_value("origin")?.map(|origin| {
            origin.strip_prefix(b"http://").is_some_and(|named| named.eq_ignore_ascii_case(host))
        });
        let is_near = self
            .only_value("sec-fetch-site")?
            .is_none_or(|site| site == b"same-origin" || (site == b"none" && !is_write));
        if is_ours == Some(false) || (is_write && is_ours.is_none()) || !is_near {
            return Err(RequestFault::Origin);
        }
        if is_write { self.ensure_own_form() } else { Ok(()) }
    }

    /// A write is JSON with a header of ours: no page can send that to another site unasked.
    fn ensure_own_form(&self) -> Result<(), RequestFault> {
        let kind = self.only_value("content-type")?.unwrap_or_default();
        let is_json = kind.split(|byte| *byte == b';').next() == Some(b"application/json");
        let has_mark = self.headers.iter().any(|(name, value)| *name == "x-el" && value == b"1");
        if is_json && has_mark { Ok(()) } else { Err(RequestFault::Form) }
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&'a str> {
        self.headers
            .iter()
            .filter(|(known, _)| *known == "cookie")
            .filter_map(|(_, value)| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOST: &[u8] = b"el-1f.localhost:7301";

    fn is_host(host: &[u8]) -> bool {
        host == HOST
    }

    fn own_write() -> RequestHead<'static> {
        RequestHead {
            method: "POST",
            authority: None,
            headers: vec![
                ("host", HOST),
                ("origin", b"http://el-1f.localhost:7301"),
                ("sec-fetch-site", b"same-origin"),
                ("content-type", b"application/json; charset=utf-8"),
                ("x-el", b"1"),
            ],
        }
    }

    #[test]
    fn the_own_page_may_and_everything_less_may_not() {
        assert_eq!(own_write().judge(is_host), Ok(()));
        for (left_out, fault) in [
            ("host", RequestFault::Host),
            ("origin", RequestFault::Origin),
            ("content-type", RequestFault::Form),
            ("x-el", RequestFault::Form),
        ] {
            let mut head = own_write();
            head.headers.retain(|(name, _)| *name != left_out);
            assert_eq!(head.judge(is_host), Err(fault), "{left_out}");
        }
        let twice = |name, value| {
            let mut head = own_write();
            head.headers.push((name, value));
            head.judge(is_host)
        };
        assert_eq!(twice("host", HOST), Err(RequestFault::Header));
        assert_eq!(twice("origin", b"null"), Err(RequestFault::Header));
        let named = RequestHead { authority: Some(b"evil.example"), ..own_write() };
        assert_eq!(named.judge(is_host), Err(RequestFault::Host));
        for method in ["PUT", "get", "", "POST "] {
            let fault = RequestHead { method, ..own_write() }.judge(is_host);
            assert_eq!(fault, Err(RequestFault::Method), "{method}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others_and_a_broken_one_is_none() {
        let head = |value: &'static [u8]| RequestHead {
            headers: vec![("cookie", b"a=1"), ("cookie", value)],
            ..RequestHead::default()
        };
        assert_eq!(head(b"x; __Host-el=s=t ;y=2").cookie("__Host-el"), Some("s=t"));
        assert_eq!(head(b"\xff=1; __Host-el=s").cookie("__Host-el"), None);
        assert_eq!(head(b"__Host-el2=s").cookie("__Host-el"), None);
    }

    /// A change of one place of a request: other bytes in a value, or a header less or more.
    fn any_changes() -> impl Strategy<Value = Vec<(usize, usize, u8, Vec<u8>)>> {
        let bytes = prop::collection::vec(any::<u8>(), 0..4);
        prop::collection::vec((0..5_usize, 0..40_usize, 0..4_u8, bytes), 0..4)
    }

    proptest! {
        #[test]
        fn a_slip_in_any_byte_of_a_request_of_ours_is_refused(
            slips in any_changes(),
            is_write in any::<bool>(),
        ) {
            let own = own_write();
            let mut headers: Vec<(&str, Vec<u8>)> =
                own.headers.iter().map(|(name, value)| (*name, value.to_vec())).collect();
            for (at, place, kind, bytes) in slips {
                let Some((name, value)) = headers.get_mut(at).map(|(name, value)| (*name, value))
                else {
                    continue;
                };
                let place = place.min(value.len());
                match kind {
                    0 => drop(value.splice(place..place, bytes)),
                    1 => drop(value.splice(place..(place + bytes.len()).min(value.len()), bytes)),
                    2 => headers.push((name, bytes)),
                    _ => drop(headers.remove(at)),
                }
            }
            let head = RequestHead {
                method: if is_write { "POST" } else { "GET" },
                authority: None,
                headers: headers.iter().map(|(name, value)| (*name, value.as_slice())).collect(),
            };
            let all = |name: &str| -> Vec<&[u8]> {
                let own = head.headers.iter().filter(|(known, _)| *known == name);
                own.map(|(_, value)| *value).collect()
            };
            if head.judge(is_host).is_ok() {
                prop_assert_eq!(all("host"), [HOST]);
                let origins = all("origin");
                let ours: &[u8] = b"http://el-1f.localhost:7301";
                prop_assert!(origins.iter().all(|origin| origin.eq_ignore_ascii_case(ours)));
                prop_assert!(!is_write || origins.len() == 1);
                prop_assert!(!is_write || all("x-el").contains(&b"1".as_slice()));
            }
        }

        #[test]
        fn any_bytes_are_a_cookie_or_none(value in prop::collection::vec(any::<u8>(), 0..60)) {
            let value = [b"a=1;__Host-el=", value.as_slice()].concat();
            let head =
                RequestHead { headers: vec![("cookie", &value)], ..RequestHead::default() };
            prop_assert!(head.cookie("__Host-el").is_none_or(|secret| !secret.contains(';')));
        }

        #[test]
        fn whatever_passes_names_us_and_comes_from_us(
            method in prop::sample::select(vec!["GET", "POST", "HEAD"]),
            headers in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "host", "origin", "sec-fetch-site", "content-type", "x-el", "cookie",
                    ]),
                    prop::sample::select(vec![
                        HOST, b"http://el-1f.localhost:7301", b"null", b"same-origin", b"none",
                        b"cross-site", b"application/json", b"text/plain", b"1", b"",
                    ]),
                ),
                0..8,
            ),
        ) {
            let head = RequestHead { method, authority: None, headers };
            if head.judge(is_host).is_ok() {
                let has = |name: &str, value: &[u8]| {
                    head.headers.iter().any(|(known, found)| *known == name && *found == value)
                };
                prop_assert!(has("host", HOST) && !has("sec-fetch-site", b"cross-site"));
                prop_assert!(!has("origin", b"null"));
                if method == "POST" {
                    prop_assert!(has("origin", b"http://el-1f.localhost:7301"));
                    prop_assert!(has("x-el", b"1"));
                    prop_assert!(has("content-type", b"application/json"));
                }
            }
        }
    }
}
