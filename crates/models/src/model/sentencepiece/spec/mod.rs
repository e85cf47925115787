//! What a SentencePiece `.model` file says: its pieces, its specifications, and their bytes.
//!
//! It stands with the model, which is that file and keeps it byte for byte; what the stages around the
//! model make of it stands with the formats.

mod pieces;
mod proto;
mod wire;

pub use pieces::{Piece, PieceKind, Pieces};
pub use proto::{Algorithm, ModelProto, NormalizerSpec, SelfTest, TrainerSpec};
