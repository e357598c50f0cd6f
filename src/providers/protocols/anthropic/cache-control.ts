import { type Fields, isObject } from '../../../lib/json/json.ts'
import type { Block } from './turns.ts'

/** The block with the caller's wish that all up to it be cached: Claude caches nothing unasked. */
export function withMark<Any extends Block>(block: Any, extras: Fields | undefined): Any {
  return marks(extras) ? { ...block, cache_control: extras.cache_control } : block
}

/** The properties without that wish, where it is one. */
export function withoutMark(extras: Fields | undefined): Fields | undefined {
  if (!marks(extras)) return extras
  const { cache_control: _, ...others } = extras
  return others
}

/** Blocks without their marks, and the last of these, for a place that takes only one for all of them. */
export type Unmarked = { readonly blocks: readonly Block[]; readonly mark: Fields }

/** Takes the marks off the blocks. */
export function takeMarks(blocks: readonly Block[]): Unmarked {
  const last = blocks.findLast(marks)
  if (!last) return { blocks, mark: {} }
  return { blocks: blocks.map(bare), mark: { cache_control: last.cache_control } }
}

function bare(block: Block): Block {
  const { cache_control: _, ...others } = block
  return others
}

function marks(fields: Fields | undefined): fields is Fields {
  return isObject(fields?.cache_control) && fields.cache_control.type === 'ephemeral'
}
