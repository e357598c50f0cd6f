import { Secret } from '../../../../src/lib/secret.ts'
import { type AppOptions, startApp } from '../../../support/app.ts'

// A gateway in a process of its own, on a database that it shares: arguments are the database, and its options as JSON.
const [database = '', options = '{}'] = process.argv.slice(2)
const app = await startApp({
  ...(JSON.parse(options) as AppOptions),
  database: new Secret(database),
})
process.stdout.write(`The gateway listens on ${app.url}\n`)
