import type { Fault } from './fault.ts'

/** Queries of stored data that return too much or too little. */
export const isolationFaults: readonly Fault[] = [
  {
    name: 'a list of completions in SQLite does not name the organization',
    file: 'src/storage/sqlite/completions/completion-list.ts',
    original: "FROM completions WHERE organization_id = ? AND ${page('sequence')}`",
    replacement: "FROM completions WHERE ? IS NOT NULL AND ${page('sequence')}`",
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a list of completions in PostgreSQL does not name the organization',
    file: 'src/storage/postgres/completions/completion-list.ts',
    original: 'const conditions = [`organization_id = ${parameters.add(organization)}`]',
    replacement: 'const conditions = [`${parameters.add(organization)}::text IS NOT NULL`]',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a query of a stored response in SQLite does not name the organization',
    file: 'src/storage/sqlite/responses/responses.ts',
    original: 'FROM responses WHERE id = ? AND organization_id = ? AND deletion IS NULL',
    replacement: 'FROM responses WHERE id = ? AND ? IS NOT NULL AND deletion IS NULL',
    tests: ['test/unit/storage/responses-isolation.test.ts'],
  },
  {
    name: 'a query of a stored response in PostgreSQL does not name the organization',
    file: 'src/storage/postgres/responses/responses.ts',
    original: 'FROM responses WHERE id = $1 AND organization_id = $2 AND deletion IS NULL',
    replacement: 'FROM responses WHERE id = $1 AND $2::text IS NOT NULL AND deletion IS NULL',
    tests: ['test/api/organizations/isolation.test.ts'],
    database: 'postgres',
  },
  {
    name: 'a usage report in SQLite counts the rows of all organizations',
    file: 'src/storage/sqlite/usage/read-usage.ts',
    original: "'usage.organization_id IN (SELECT value FROM json_each(?4))'",
    replacement: "'json_valid(?4)'",
    tests: ['test/unit/storage/usage.test.ts'],
  },
  {
    name: 'a usage report in PostgreSQL counts the rows of all organizations',
    file: 'src/storage/postgres/usage/slices.ts',
    original: '`t.organization_id = ANY(${parameters.add(organizations)})`',
    replacement: '`${parameters.add(organizations)}::text[] IS NOT NULL`',
    tests: ['test/unit/storage/usage.test.ts'],
  },
  {
    name: 'the deletion of a completion in SQLite does not name the organization',
    file: 'src/storage/sqlite/completions/completions.ts',
    original: '`DELETE FROM completions ${one}`',
    replacement: "'DELETE FROM completions WHERE id = ? AND ? IS NOT NULL'",
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'the deletion of a completion in PostgreSQL does not name the organization',
    file: 'src/storage/postgres/completions/completions.ts',
    original: '`DELETE FROM completions ${one} RETURNING id`',
    replacement: '`DELETE FROM completions WHERE id = $1 AND $2::text IS NOT NULL RETURNING id`',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a filter by metadata in PostgreSQL finds completions with any of the pairs',
    file: 'src/storage/postgres/completions/completion-list.ts',
    original: '`terms @> ${',
    replacement: '`terms && ${',
    tests: ['test/api/stored/completion-lists.test.ts'],
    database: 'postgres',
  },
  {
    name: 'a page of completions in PostgreSQL omits those of the same position as its cursor',
    file: 'src/storage/postgres/completions/completion-list.ts',
    original: '(sequence, id) ${comparison} (${parameters.add(sequence)}, ${parameters.add(after)})',
    replacement: 'sequence ${comparison} ${parameters.add(sequence)}',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'the page after one of damaged responses omits the next response',
    file: 'src/storage/common/response-list.ts',
    original: 'last: onPage.at(-1)?.id',
    replacement: 'last: found.at(-1)?.id',
    tests: ['test/api/stored/responses-list.test.ts'],
  },
]
