//! Reads JSON objects by position.
//!
//! serde's derive gives each struct two readers: one for fields in a fixed order (`visit_seq`) and one for named fields in
//! any order (`visit_map`). The second one is several times larger, and every type has its own copy. This reader looks the
//! names up once, with code that all types share, and passes the fields on in their declared order. So `visit_map` of a
//! struct is never called and never compiled. Measured on the page of a run: 7 KB of Brotli less. That page with one
//! piece is up to 18 KB above the goal (`docs/benchmarks.md`).
//!
//! The price: serde's `default` and `alias` have no effect here. A missing field is read as `None`, `false` or the unit
//! value, and is an error for every other type. To find such mistakes early, a dev build reads back every value that it
//! puts into a page.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;
use serde_json::value::RawValue;

/// Reads one JSON value that the server wrote. Nothing may follow the value.
///
/// # Errors
/// The text isn't JSON, or doesn't match `T`. The message names the path of the field.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let whole: &RawValue = serde_json::from_str(text)?;
    T::deserialize(Reader(Some(whole.get())))
}

/// The text of one value; `None` for a missing field.
#[derive(Clone, Copy)]
struct Reader<'de>(Option<&'de str>);

type Fields<'de> = Vec<(Cow<'de, str>, &'de RawValue)>;

impl<'de> Reader<'de> {
    fn text(self) -> Result<&'de str, Error> {
        self.0.ok_or_else(|| Error::custom("a value is missing"))
    }

    fn items(self) -> Result<Items<'de>, Error> {
        serde_json::from_str::<Vec<&RawValue>>(self.text()?).map(|items| Items(items.into_iter()))
    }

    fn object(self) -> Result<Fields<'de>, Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(Key(name)) = map.next_key()? {
                    fields.push((name, map.next_value()?));
                }
                Ok(fields)
            }
        }
        serde_json::Deserializer::from_str(self.text()?).deserialize_map(Object)
    }
}

/// A name, borrowed from the text unless it contains escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Methods that pass the text on to serde_json's own reader.
macro_rules! plain {
    ($($read:ident)*) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            serde_json::Deserializer::from_str(self.text()?).$read(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    plain! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_identifier deserialize_ignored_any deserialize_bytes deserialize_byte_buf
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            None => visitor.visit_unit(),
            Some(text) => serde_json::Deserializer::from_str(text).deserialize_any(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            None => visitor.visit_bool(false),
            Some(text) => serde_json::Deserializer::from_str(text).deserialize_bool(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            None | Some("null") => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Entries { rest: self.object()?.into_iter(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(InOrder { fields: fields.iter(), object: self.object()? })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.text()?.starts_with('"') {
            let Key(name) = serde_json::from_str(self.text()?)?;
            return visitor.visit_enum(Variant { name, content: Self(None) });
        }
        let mut object = self.object()?.into_iter();
        match (object.next(), object.next()) {
            (Some((name, content)), None) => visitor.visit_enum(Variant { name, content: Self(Some(content.get())) }),
            _ => Err(Error::custom("expected an object with one field")),
        }
    }

    forward_to_deserialize_any! { i128 u128 }
}

struct Items<'de>(std::vec::IntoIter<&'de RawValue>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(Reader(Some(item.get())))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The fields of a struct in the order in which it declares them.
struct InOrder<'de> {
    fields: std::slice::Iter<'static, &'static str>,
    object: Fields<'de>,
}

impl<'de> SeqAccess<'de> for InOrder<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(field) = self.fields.next() else { return Ok(None) };
        let found = self.object.iter().find(|(name, _)| name == field);
        let value = Reader(found.map(|(_, value)| value.get()));
        seed.deserialize(value).map(Some).map_err(|error| Error::custom(format_args!("{field}: {error}")))
    }
}

struct Entries<'de> {
    rest: std::vec::IntoIter<(Cow<'de, str>, &'de RawValue)>,
    value: Option<&'de RawValue>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(name(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Reader(self.value.take().map(RawValue::get)))
    }
}

fn name(name: Cow<'_, str>) -> CowStrDeserializer<'_, Error> {
    name.into_deserializer()
}

struct Variant<'de> {
    name: Cow<'de, str>,
    content: Reader<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Reader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        Ok((seed.deserialize(name(self.name))?, self.content))
    }
}

impl<'de> VariantAccess<'de> for Reader<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
#[path = "json_reader_tests.rs"]
mod tests;
