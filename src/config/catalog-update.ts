import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { errorCode } from '../lib/platform-failure.ts'
import { checkSchema } from './check-schema.ts'
import { fileErrorReason } from './file-problems.ts'
import { date, ModelDetails } from './model-details.ts'
import { SettingsError, type SettingsProblem } from './problem.ts'
import { closed, text } from './setting-types.ts'

/** Changes of the built-in catalog, in the data folder: `weir models update` writes the file, and the settings override it. */
export type CatalogUpdate = Static<typeof CatalogUpdate>
const CatalogUpdate = Type.Object(
  {
    sources: Type.Array(
      Type.Object(
        {
          source: text('The file or the URL.', 'https://models.dev/api.json'),
          date: date('The day of the update.', '2026-11-26'),
        },
        closed,
      ),
      { description: 'Where the changes came from, the latest last.' },
    ),
    models: Type.Array(ModelDetails, {
      description: 'Added models, and those of the built-in catalog with only what has changed.',
    }),
    ended: Type.Array(text('A slug.', 'acme/river-7b'), { description: 'The models that are removed.' }),
  },
  closed,
)

/** The path of the update, which may not exist. */
export function catalogUpdateFile(dataFolder: string): string {
  return join(dataFolder, 'catalog.json')
}

/**
 * Reads the update; undefined if there is none. Throws `SettingsError` if the file is damaged: prices that the
 * operator did not accept must never apply silently.
 */
export function readCatalogUpdate(dataFolder: string): CatalogUpdate | undefined {
  const file = catalogUpdateFile(dataFolder)
  const problems: SettingsProblem[] = []
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (checkSchema(CatalogUpdate, value, problems)) return value
  } catch (error) {
    if (isMissing(error) || !isOpen(dataFolder)) return undefined
    const reason = error instanceof SyntaxError ? 'it is not valid JSON' : fileErrorReason(error)
    problems.push({ path: '', message: `The file cannot be read: ${reason}.` })
  }
  const message = 'To return to the built-in catalog, run: weir models update --reset'
  throw new SettingsError([...problems.slice(0, 3), { path: '', message }], file)
}

/** Commands such as `weir health` work for accounts that may not read the folder; a server reports that itself. */
function isOpen(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Also true where a part of the path of the data folder is a file, which other checks report. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')
}
