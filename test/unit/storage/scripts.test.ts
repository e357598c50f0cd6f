import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { api_keys } from '../../../src/storage/schema/organizations.ts'
import { rotateKey } from '../../../src/storage/scripts/keys.ts'
import { insertInto, select, update } from '../../../src/storage/sql.ts'
import {
  createCompile,
  type Dialect,
  type Parameters,
  type Script,
  statement,
} from '../../../src/storage/statement.ts'
import { createRunScript } from '../../../src/storage/sqlite/run-script.ts'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { PgDialect } from 'drizzle-orm/pg-core'
import { testStorage } from './support/folder.ts'
import { testActor } from '../../support/actor.ts'

const dialect: Dialect = {
  forUpdate: sql``,
  forShare: sql``,
  lockTotals: sql`select 1`,
  deleteLimits: () => sql`select 1`,
  skipLocked: sql``,
  isErasable: sql`true`,
  keyOrder: sql`rowid`,
  asReference: (id) => sql`${id}`,
  bytesOf: (text) => sql`${text}`,
  isOneOf: (expression, list) => sql`${expression} in ${list}`,
  rowsOf: (list, name) => sql`json_each(${list}) as ${sql.identifier(name)}`,
}

const renameKey = statement((values: Parameters<{ id: string; name: string }>) =>
  update(api_keys, { name: values.name }, sql`where ${api_keys.public_id} = ${values.id}`),
)

/** Drives a script with these rows; returns the values of its statements, and how it ended. */
function drive(script: Script<unknown>, rows: readonly object[][]) {
  const values: object[] = []
  try {
    let step = script.next([])
    for (const found of rows) {
      if (!step.done) values.push(step.value.values)
      step = script.next(found as never[])
    }
    return { values, done: step.done }
  } catch (error) {
    return { values, error: String(error) }
  }
}

test('a statement is compiled once, in the dialect of each database, with its values in the order of the text', () => {
  const [sqlite, postgres] = [new SQLiteSyncDialect(), new PgDialect()]
  const compilers = [
    createCompile(dialect, (built) => sqlite.sqlToQuery(built)),
    createCompile(dialect, (built) => postgres.sqlToQuery(built)),
  ]
  for (const compile of compilers) expect(compile(renameKey)).toBe(compile(renameKey))
  const compiled = compilers.map((compile) => compile(renameKey))
  expect(compiled.map(({ text }) => text)).toEqual([
    'update "api_keys" set "name" = ? where "api_keys"."public_id" = ?',
    'update "api_keys" set "name" = $1 where "api_keys"."public_id" = $2',
  ])
  for (const { valuesOf } of compiled) {
    expect(valuesOf({ id: 'k1', name: 'laptop' })).toEqual(['laptop', 'k1'])
    expect(() => valuesOf({ id: 'k1' })).toThrow('The statement has no value name.')
  }
})

test('a script is a sequence of statements that receives rows, without a database', () => {
  const limits = { budget: null, models: null, enabled: 1 }
  const key = { id: 'old', name: 'laptop', organization: null, ...limits, permissions: '[]', tags: '[]' }
  expect(drive(rotateKey('old', 1000, { actor: testActor, now: 5 }), [[]])).toEqual({
    values: [{ id: 'old' }],
    done: false,
  })
  expect(drive(rotateKey('old', 1000, { actor: testActor, now: 5 }), [[], [key]])).toEqual({
    values: [{ id: 'old' }, { id: 'old' }],
    error: 'Error: The organization of the API key old was deleted.',
  })
})

test('a list of values is one value, and rows have the names of the fields', () => {
  const { database } = testStorage()
  const run = createRunScript(database.sqlite)
  const insert = statement((values: Parameters<{ id: string; hash: Uint8Array }>) =>
    insertInto(api_keys, {
      public_id: values.id,
      organization_id: 'org_1',
      name: 'key',
      secret_hash: values.hash,
      last4: '0000',
      created_at: 1,
    }),
  )
  const find = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    select(
      { id: api_keys.public_id, createdAt: api_keys.created_at },
      sql`from ${api_keys} where ${isOneOf(api_keys.public_id, values.ids)} order by ${api_keys.public_id}`,
    ),
  )
  for (const id of ['a', 'b', 'c']) run(insert({ id, hash: new Uint8Array(1) }))
  expect(run(find({ ids: ['c', 'a', 'x'] }))).toEqual([
    { id: 'a', createdAt: 1 },
    { id: 'c', createdAt: 1 },
  ])
})
