import { unsupportedParameter } from '../lib/errors/errors.ts'
import { type Fields, fieldsOf } from '../lib/json/json.ts'

/** Throws 400 for a part that names a file. Its id carries the meaning of the part, and names nothing here: no files are kept. */
export function refuseFileId(part: Fields, path: string): void {
  const places: readonly (readonly [Fields, string])[] = [
    [part, path],
    [fieldsOf(part.file), `${path}.file`],
  ]
  const found = places.find(([fields]) => typeof fields.file_id === 'string')
  if (!found) return
  throw unsupportedParameter(
    'Files are not kept here: send the content itself instead of a file_id.',
    `${found[1]}.file_id`,
  )
}
