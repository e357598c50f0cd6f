import { parseJson } from '../../lib/json/json.ts'
import { findTooWide, isTooDeep } from '../../lib/validation/json-bounds.ts'

/** Deeper JSON could be parsed, but serializing it would overflow the stack. */
const maxDepth = 200
/** Beyond the cheap ones of each object: each takes long to parse. */
const maxProperties = 4096

/** Parses JSON of any caller or model; undefined for other text, and where it nests too deeply or is too wide. */
export function parseBounded(text: string): unknown {
  return isTooDeep(text, maxDepth) || findTooWide(text, maxProperties) ? undefined : parseJson(text)
}
