import { expect, test } from 'bun:test'
import { outageReason } from '../../../src/storage/postgres/postgres-errors.ts'

/** An error of PgBouncer, which has one code for all. */
const ofPooler = (message: string) => Object.assign(new Error(message), { code: '08P01', severity: 'FATAL' })

const refusals: readonly (readonly [error: Error, reason: string])[] = [
  [ofPooler('unsupported startup parameter: options'), 'the pooler does not accept the options of the URL'],
  [
    ofPooler('transaction blocks not allowed in statement pooling mode'),
    'the pooler has the mode statement; use transaction or session',
  ],
  [ofPooler('no more connections allowed (max_client_conn)'), 'the pooler has too many connections'],
  [ofPooler('database "nope" does not exist'), 'the pooler knows no database of this name'],
  [ofPooler('no such database: nope'), 'the pooler knows no database of this name'],
  [ofPooler('password authentication failed'), 'the pooler rejected the user name or the password'],
  [ofPooler('no such user: weir'), 'the connection was refused (08P01)'],
  [new Error('The server does not support SSL connections'), 'the server does not support TLS'],
  [new Error('Connection terminated unexpectedly'), 'the connection was closed'],
]

const named = refusals.map(([error, reason]) => [error.message, reason, error] as const)

test.each(named)('a connection that is refused with “%s” is reported as: %s', (_, reason, error) => {
  expect(outageReason(error)).toBe(`it cannot be reached: ${reason}`)
  expect(outageReason(new Error('It failed.', { cause: error }))).toBeUndefined()
})
