//! The ids of a batch as an Arrow list array, which shares numpy's memory if possible.

use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericListArray, OffsetSizeTrait, PrimitiveArray,
    UInt32Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrays::Numbers;
use crate::arrow::strings::pointer_of;
use crate::errors::{Failure, Outcome, argument, guard};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The capsules of a list array of these ids: uint16 if they are `narrow`, else uint32; 64-bit
/// offsets only where there are too many for 32. `requested` may ask for others.
#[pyfunction]
pub fn arrow_lists<'py>(
    py: Python<'py>,
    ids: Numbers<'py, u32>,
    offsets: Numbers<'py, i64>,
    narrow: bool,
    requested: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    guard(py, || {
        let wanted = requested.map(wanted).transpose()?.flatten();
        let (wanted, is_large) = wanted.unwrap_or((DataType::Null, false));
        let values = values(py, &ids, narrow, &wanted)?;
        let lists: ArrayRef = if is_large || i32::try_from(ids.len()).is_err() {
            lists(shared::<i64>(&offsets)?, values)?
        } else {
            let offsets = offsets.readonly();
            let offsets = offsets.as_slice().map_err(|_| not_flat())?;
            let offsets: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
            lists(offsets.into(), values)?
        };
        let failed = |error: arrow_schema::ArrowError| argument(error.to_string());
        let (array, schema) = to_ffi(&lists.to_data()).map_err(failed)?;
        Ok((
            PyCapsule::new_with_value(py, schema, SCHEMA)?,
            PyCapsule::new_with_value(py, array, ARRAY)?,
        ))
    })
}

/// The type of ids that a reader asks for, and whether of 64-bit offsets, if it asks for lists.
fn wanted(capsule: &Bound<'_, PyAny>) -> Outcome<Option<(DataType, bool)>> {
    let pointer = pointer_of("requested_schema", capsule, SCHEMA)?;
    // SAFETY: a capsule of this name holds such a struct, which stays the capsule's.
    let schema = unsafe { pointer.cast::<FFI_ArrowSchema>().as_ref() };
    Ok(match DataType::try_from(schema) {
        Ok(DataType::List(item)) => Some((item.data_type().clone(), false)),
        Ok(DataType::LargeList(item)) => Some((item.data_type().clone(), true)),
        _ => None,
    })
}

/// The ids, of the type that is wanted if it has room for them.
fn values(
    py: Python<'_>,
    ids: &Bound<'_, PyArray1<u32>>,
    narrow: bool,
    wanted: &DataType,
) -> Outcome<ArrayRef> {
    let view = ids.readonly();
    let slice = view.as_slice().map_err(|_| not_flat())?;
    let fit = |most: u32| slice.iter().all(|&id| id <= most);
    let converted = py.detach(|| match wanted {
        DataType::UInt32 => None,
        DataType::UInt16 if narrow || fit(0xFFFF) => Some(of::<UInt16Type>(slice, |id| id as u16)),
        DataType::Int32 if fit(i32::MAX as u32) => Some(of::<Int32Type>(slice, |id| id as i32)),
        DataType::Int64 => Some(of::<Int64Type>(slice, i64::from)),
        DataType::UInt64 => Some(of::<UInt64Type>(slice, u64::from)),
        _ if narrow => Some(of::<UInt16Type>(slice, |id| id as u16)),
        _ => None,
    });
    match converted {
        Some(values) => Ok(values),
        None => Ok(Arc::new(UInt32Array::new(shared(ids)?, None))),
    }
}

fn of<T: ArrowPrimitiveType>(ids: &[u32], convert: impl Fn(u32) -> T::Native) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(
        ids.iter().map(|&id| convert(id)),
    ))
}

fn lists<O: OffsetSizeTrait>(offsets: ScalarBuffer<O>, values: ArrayRef) -> Outcome<ArrayRef> {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let lists = GenericListArray::<O>::try_new(item, OffsetBuffer::new(offsets), values, None);
    Ok(Arc::new(
        lists.map_err(|error| argument(error.to_string()))?,
    ))
}

/// The memory of an array of numpy, which lives as long as something refers to it.
fn shared<T: Element + arrow_buffer::ArrowNativeType>(
    array: &Bound<'_, PyArray1<T>>,
) -> Outcome<ScalarBuffer<T>> {
    let view = array.readonly();
    let slice = view.as_slice().map_err(|_| not_flat())?;
    let bytes = size_of_val(slice);
    let start = NonNull::from(slice).cast::<u8>();
    let owner = Arc::new(AssertUnwindSafe(array.clone().unbind()));
    // SAFETY: the array is held, and numpy does not move the memory of one that is referred to.
    let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner) };
    Ok(ScalarBuffer::new(buffer, 0, slice.len()))
}

fn not_flat() -> Failure {
    argument("the arrays of a batch must lie in memory without gaps")
}
