import { Secret } from '../../../../src/lib/secret.ts'
import type { SettingsFile } from '../../../../src/config/settings.ts'
import { startApp } from '../../../support/app.ts'

// A gateway in a process of its own, on a database that it shares: arguments are the database and the settings as JSON.
const [database = '', settings = '{}'] = process.argv.slice(2)
const app = await startApp({
  database: database.startsWith('postgres:') ? new Secret(database) : database,
  shared: true,
  settings: JSON.parse(settings) as SettingsFile,
})
process.stdout.write(`The gateway listens on ${app.url}\n`)
