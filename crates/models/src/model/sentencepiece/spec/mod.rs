//! What a SentencePiece `.model` file says: its pieces, its specifications, and their bytes.
//!
//! It belongs to the model, which is that file and keeps it byte for byte; the formats turn it into
//! the stages around the model.

mod pieces;
mod proto;
mod wire;

pub use pieces::{Piece, PieceKind, Pieces};
pub use proto::{Algorithm, ModelProto, NormalizerSpec, SelfTest, TrainerSpec};
