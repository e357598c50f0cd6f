import { type Fields, isObject } from '../../../lib/json/json.ts'
import type { Block } from './turns.ts'

/** The block with the `cache_control` of the request: Claude caches only on request. */
export function withCacheControl<AnyBlock extends Block>(
  block: AnyBlock,
  extras: Fields | undefined,
): AnyBlock {
  return hasCacheControl(extras) ? { ...block, cache_control: extras.cache_control } : block
}

/** The properties without a valid `cache_control`. */
export function withoutCacheControl(extras: Fields | undefined): Fields | undefined {
  if (!hasCacheControl(extras)) return extras
  const { cache_control: _, ...others } = extras
  return others
}

/** Blocks without `cache_control`, and the last one of it, for a container that supports only one. */
export type DetachedBlocks = { readonly blocks: readonly Block[]; readonly cacheControl: Fields }

/** Separates `cache_control` from the blocks. */
export function detachCacheControl(blocks: readonly Block[]): DetachedBlocks {
  const last = blocks.findLast(hasCacheControl)
  if (!last) return { blocks, cacheControl: {} }
  return { blocks: blocks.map(withoutOwn), cacheControl: { cache_control: last.cache_control } }
}

function withoutOwn(block: Block): Block {
  const { cache_control: _, ...others } = block
  return others
}

function hasCacheControl(fields: Fields | undefined): fields is Fields {
  return isObject(fields?.cache_control) && fields.cache_control.type === 'ephemeral'
}
