//! Ids as numbers in the tables, where 0 stands for the best network, or for no network where none answered.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use shared::ids::{GameId, Generation, NetworkId, NetworkRef};

/// A domain value in a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<T>(pub T);

/// A column holds a word or a number that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("{what} {found:?}")]
pub(super) struct UnknownValue {
    pub what: &'static str,
    pub found: String,
}

impl UnknownValue {
    pub(super) fn error(what: &'static str, found: impl Into<String>) -> FromSqlError {
        FromSqlError::Other(Box::new(Self { what, found: found.into() }))
    }
}

/// Makes a domain value a column by a pair of functions to and from its number.
macro_rules! number_column {
    ($type:ty, $to:expr, $from:expr) => {
        impl ToSql for Column<$type> {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok($to(self.0).into())
            }
        }

        impl FromSql for Column<$type> {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                $from(FromSql::column_result(value)?).map(Self)
            }
        }
    };
}

number_column!(GameId, |id: GameId| id.get().cast_signed(), |number: i64| Ok(GameId::new(number.cast_unsigned())));
number_column!(Generation, Generation::get, |number: u32| Ok(Generation::new(number)));
number_column!(NetworkId, NetworkId::get, |number: u32| {
    NetworkId::new(number).ok_or_else(|| UnknownValue::error("network", number.to_string()))
});
number_column!(NetworkRef, |network| number_of(id_of(network)), |number| {
    Ok(NetworkId::new(number).map_or(NetworkRef::Best, NetworkRef::Id))
});
number_column!(Option<NetworkId>, number_of, |number| Ok(NetworkId::new(number)));

/// Returns the number that stands for a network in the database: 0 for the best one.
pub(super) fn number_of_ref(network: NetworkRef) -> u32 {
    number_of(id_of(network))
}

const fn id_of(network: NetworkRef) -> Option<NetworkId> {
    match network {
        NetworkRef::Best => None,
        NetworkRef::Id(network_id) => Some(network_id),
    }
}

fn number_of(network_id: Option<NetworkId>) -> u32 {
    network_id.map_or(0, NetworkId::get)
}
