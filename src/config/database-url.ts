import { readFileSync } from 'node:fs'
import { isObject } from '../lib/json/json.ts'
import { Secret } from '../lib/secret.ts'
import { checkSchema } from './check-schema.ts'
import { interpolate } from './interpolate.ts'
import { findSettingsFile, type SettingsInput } from './paths.ts'
import { SettingsError, type SettingsProblem } from './problem.ts'
import { readSettingsFile } from './read-settings-file.ts'
import { DatabaseUrl } from './settings.ts'

/** Returns the value of WEIR_DATABASE; undefined if it is not set. Adds a problem if it is not valid. */
export function databaseFromEnvironment(
  environment: SettingsInput['environment'],
  problems: SettingsProblem[],
): string | undefined {
  return validUrl(environment.WEIR_DATABASE || undefined, 'WEIR_DATABASE', problems)
}

/**
 * Returns the URL of the PostgreSQL database from WEIR_DATABASE or the settings file; undefined for the SQLite file in the
 * data folder. Other mistakes in the settings file are ignored, because they must not keep an operator from revoking a
 * key. Throws `SettingsError` if the database is not known.
 */
export function findDatabaseUrl(input: SettingsInput): Secret | undefined {
  const problems: SettingsProblem[] = []
  const file = findSettingsFile(input)
  const url =
    databaseFromEnvironment(input.environment, problems) ??
    (file === null ? undefined : databaseFromFile(file, input, problems))
  if (problems.length > 0) throw new SettingsError(problems, file)
  return url === undefined ? undefined : new Secret(url)
}

/** Returns the URL of a PostgreSQL database; throws `SettingsError`, which names only where it was set, for any other text. */
export function parseDatabaseUrl(value: string, name: string): Secret {
  const problems: SettingsProblem[] = []
  const url = validUrl(value, name, problems)
  if (url === undefined) throw new SettingsError(problems, null)
  return new Secret(url)
}

function databaseFromFile(
  file: string,
  { environment }: SettingsInput,
  problems: SettingsProblem[],
): string | undefined {
  // A file that cannot be parsed matters only if it names a database.
  if (!/^["']?database["']?\s*:|[{,]\s*["']?database["']?\s*:/m.test(readText(file))) return undefined
  const settings = readSettingsFile(file)
  const database = isObject(settings) ? settings.database : undefined
  return validUrl(interpolate(database, environment, problems), 'database', problems)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function validUrl(value: unknown, path: string, problems: SettingsProblem[]): string | undefined {
  if (value === undefined || problems.length > 0) return undefined
  const found: SettingsProblem[] = []
  if (checkSchema(DatabaseUrl, value, found)) return value
  problems.push(...found.map(({ message }) => ({ path, message })))
  return undefined
}
