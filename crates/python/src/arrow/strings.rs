//! A column of strings in any object of the Arrow PyCapsule interface, read in place.
//!
//! Look here for which Arrow types hold texts, and for the checks of memory that another
//! library describes: offsets and indices. Bytes are checked when they become texts.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, make_array};
use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyAttributeError, PyImportError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{Outcome, argument};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A column of strings, in the chunks that it came in.
pub struct Strings {
    chunks: Vec<Chunk>,
}

/// Values of bytes, or indices of such, and which rows are null.
struct Chunk {
    values: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl Strings {
    /// The strings of the argument called `name`; nothing if it is no object of the interface.
    ///
    /// A table counts as its only column.
    pub fn of(name: &str, value: &Bound<'_, PyAny>) -> Outcome<Option<Self>> {
        let py = value.py();
        let failed =
            |error: ArrowError| argument(format!("{name} cannot be read as Arrow: {error}"));
        let arrays = if let Some(capsule) = exported(name, value, "__arrow_c_stream__")? {
            let stream = stream_of(name, &capsule)?;
            // What makes a chunk may run threads that need the GIL.
            let stream = py.detach(|| ArrayStreamReader::try_new(stream));
            let stream = stream.map_err(failed)?;
            check(name, stream.field().data_type())?;
            py.detach(|| stream.collect::<Result<Vec<_>, _>>())
                .map_err(failed)?
        } else if let Some(capsules) = exported(name, value, "__arrow_c_array__")? {
            let array = make_array(array_of(name, &capsules)?.map_err(failed)?);
            check(name, array.data_type())?;
            vec![array]
        } else {
            return Ok(None);
        };
        let chunks = arrays.into_iter().map(|array| chunk(name, &array));
        Ok(Some(Self {
            chunks: chunks.collect::<Outcome<_>>()?,
        }))
    }

    /// The bytes of each row, `None` for a null.
    pub fn rows(&self) -> Vec<Option<&[u8]>> {
        let mut rows = Vec::with_capacity(self.chunks.iter().map(|chunk| chunk.values.len()).sum());
        for Chunk { values, nulls } in &self.chunks {
            let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            match values.as_any_dictionary_opt() {
                Some(dictionary) => {
                    let words = bytes_of(dictionary.values());
                    let keys = if words.is_empty() {
                        // Every row is null.
                        vec![0; values.len()]
                    } else {
                        dictionary.normalized_keys()
                    };
                    let rows_of = keys.iter().enumerate().map(|(row, &key)| {
                        if is_null(row) {
                            None
                        } else {
                            words.get(key).copied().flatten()
                        }
                    });
                    rows.extend(rows_of);
                }
                None => {
                    let of_row = |(row, bytes)| if is_null(row) { None } else { bytes };
                    rows.extend(bytes_of(values).into_iter().enumerate().map(of_row));
                }
            }
        }
        rows
    }
}

/// What an object gives under the name of an export; nothing if it has none.
fn exported<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    export: &str,
) -> Outcome<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let export = match value.getattr(export) {
        Ok(export) => export,
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match export.call0() {
        Ok(given) => Ok(Some(given)),
        // pandas exports by pyarrow, which may not be there: its columns can be gone through.
        Err(error) if error.is_instance_of::<PyImportError>(py) => Ok(None),
        Err(error) => {
            let failure = argument(format!(
                "{name} cannot be read as Arrow: {}",
                error.value(py)
            ));
            Err(failure)
        }
    }
}

fn stream_of(name: &str, capsule: &Bound<'_, PyAny>) -> Outcome<FFI_ArrowArrayStream> {
    let pointer = pointer_of(name, capsule, STREAM)?;
    // SAFETY: a capsule of this name holds such a struct; moved out, it is marked as released.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) })
}

fn array_of(name: &str, capsules: &Bound<'_, PyAny>) -> Outcome<Result<ArrayData, ArrowError>> {
    let Ok((schema, array)) = capsules.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(argument(format!("{name} exports no pair of capsules")));
    };
    let schema = pointer_of(name, &schema, SCHEMA)?;
    let array = pointer_of(name, &array, ARRAY)?;
    // SAFETY: capsules of these names hold such structs; moved out, they are marked as released.
    // That they describe memory as the interface says is the promise of who made them.
    Ok(unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
        from_ffi(FFI_ArrowArray::from_raw(array.cast().as_ptr()), &schema)
    })
}

/// What a capsule of this kind holds.
pub fn pointer_of(name: &str, capsule: &Bound<'_, PyAny>, kind: &CStr) -> Outcome<NonNull<c_void>> {
    let capsule = capsule.cast::<PyCapsule>().ok();
    let pointer = capsule.and_then(|capsule| capsule.pointer_checked(Some(kind)).ok());
    let kind = kind.to_string_lossy();
    pointer.ok_or_else(|| argument(format!("{name} exports no capsule {kind:?}")))
}

/// Refuses what is neither strings nor a table that has no other column.
fn check(name: &str, kind: &DataType) -> Outcome<()> {
    let column = match kind {
        DataType::Struct(columns) => match columns.as_ref() {
            [column] => column.data_type(),
            [] => return Err(argument(format!("{name} is a table without a column"))),
            columns => {
                let names: Vec<_> = columns
                    .iter()
                    .map(|column| column.name().as_str())
                    .collect();
                let names = names.join(", ");
                return Err(argument(format!(
                    "{name} is a table with the columns {names}: pass one of them"
                )));
            }
        },
        kind => kind,
    };
    match as_bytes(column) {
        Some(_) => Ok(()),
        None => Err(argument(format!("{name} holds {column}, not strings"))),
    }
}

/// The strings of an array, or of the only column of a table.
fn chunk(name: &str, array: &ArrayRef) -> Outcome<Chunk> {
    let (array, outer) = match array.as_struct_opt() {
        None => (array, None),
        Some(table) => (table.column(0), table.nulls()),
    };
    let data = retyped(array.to_data());
    data.validate_full()
        .map_err(|error| argument(format!("{name} is not valid Arrow: {error}")))?;
    let values = make_array(data);
    let nulls = NullBuffer::union(values.logical_nulls().as_ref(), outer);
    Ok(Chunk { values, nulls })
}

/// The type of the same strings as bytes; nothing if it is no type of strings.
fn as_bytes(kind: &DataType) -> Option<DataType> {
    use DataType::*;
    Some(match kind {
        Utf8 | Binary => Binary,
        LargeUtf8 | LargeBinary => LargeBinary,
        Utf8View | BinaryView => BinaryView,
        Null => Null,
        Dictionary(key, words) => Dictionary(key.clone(), Box::new(as_bytes(words)?)),
        _ => return None,
    })
}

/// The same array, its strings as bytes, so that nothing is taken for text before it is checked.
fn retyped(data: ArrayData) -> ArrayData {
    let kind = as_bytes(data.data_type()).unwrap_or(DataType::Null);
    let words = data.child_data().iter().cloned().map(retyped).collect();
    let builder = data.into_builder().data_type(kind).child_data(words);
    // SAFETY: bytes are laid out as strings are; the rest is as it was.
    unsafe { builder.build_unchecked() }
}

fn bytes_of(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        _ => vec![None; array.len()],
    }
}
