import { unsupportedParameter } from '../lib/errors/errors.ts'
import { type Fields, fieldsOf } from '../lib/json/json.ts'

/** Throws 400 for a content part with a `file_id`: it cannot be ignored, and the gateway stores no files. */
export function rejectFileId(part: Fields, path: string): void {
  const candidates: readonly (readonly [Fields, string])[] = [
    [part, path],
    [fieldsOf(part.file), `${path}.file`],
  ]
  const found = candidates.find(([fields]) => typeof fields.file_id === 'string')
  if (!found) return
  throw unsupportedParameter(
    `Unsupported parameter: '${found[1]}.file_id'. The gateway does not store files; send the file content instead.`,
    `${found[1]}.file_id`,
  )
}
