//! SentencePiece `.model` files: read and written without protobuf.
//!
//! Everything that changes behaviour is in the file, and so is a self-test.

mod proto;
mod wire;

pub use proto::{Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, SelfTest, TrainerSpec};
