import type { Fault } from './fault.ts'

/** Queries of stored data that return too much or too little. */
export const isolationFaults: readonly Fault[] = [
  {
    name: 'a list of completions in SQLite does not name the organization',
    file: 'src/storage/sqlite/completion-search.ts',
    original:
      'selectFound(sql`from ${completions} where ${ofOrganization(values)} and ${page(sequence, values)}`)',
    replacement:
      'selectFound(sql`from ${completions} where ${values.organization} is not null and ${page(sequence, values)}`)',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a list of completions in PostgreSQL does not name the organization',
    file: 'src/storage/postgres/completion-search.ts',
    original: 'eq(completions.organization_id, organization),',
    replacement: 'sql`${organization}::text is not null`,',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a query of a stored response does not name the organization',
    file: 'src/storage/scripts/response-removal.ts',
    original:
      'sql`where ${eq(responses.id, values.id)} and ${eq(responses.organization_id, values.organization)}`',
    replacement:
      'sql`where ${eq(responses.id, values.id)} and cast(${values.organization} as text) is not null`',
    tests: ['test/unit/storage/responses-isolation.test.ts'],
  },
  {
    name: 'a usage report in SQLite counts the rows of all organizations',
    file: 'src/storage/sqlite/usage-source.ts',
    original: "isIn('usage.organization_id', organizations)",
    replacement: '[ownerExistsSql]',
    tests: ['test/unit/storage/usage.test.ts'],
  },
  {
    name: 'a usage report in PostgreSQL counts the rows of all organizations',
    file: 'src/storage/postgres/slices-sql.ts',
    original: '`t.organization_id = ANY(${parameters.add(organizations)})`',
    replacement: '`${parameters.add(organizations)}::text[] IS NOT NULL`',
    tests: ['test/unit/storage/usage.test.ts'],
  },
  {
    name: 'a key that has moved takes its requests to the project of its first ones',
    file: 'src/storage/usage/slices.ts',
    original: ' AND ${t}.project_id = ${s}.project_id',
    replacement: '',
    tests: ['test/unit/storage/usage-totals.test.ts'],
  },
  {
    name: 'a query of a stored completion does not name the organization',
    file: 'src/storage/scripts/completions.ts',
    original:
      'sql`where ${eq(completions.id, values.id)} and ${eq(completions.organization_id, values.organization)}`',
    replacement:
      'sql`where ${eq(completions.id, values.id)} and cast(${values.organization} as text) is not null`',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'a filter by metadata in PostgreSQL finds completions with any of the pairs',
    file: 'src/storage/postgres/completion-search.ts',
    original: 'terms @> (select ${terms})',
    replacement: 'terms && (select ${terms})',
    tests: ['test/api/stored/completion-lists.test.ts'],
    database: 'postgres',
  },
  {
    name: 'a page of completions in PostgreSQL omits those of the same position as its cursor',
    file: 'src/storage/postgres/completion-search.ts',
    original: '(${completions.sequence}, ${completions.id}) ${follows} (${cursor}, ${after})',
    replacement: '${completions.sequence} ${follows} ${cursor}',
    tests: ['test/unit/storage/completions.test.ts'],
  },
  {
    name: 'the page after one of damaged responses omits the next response',
    file: 'src/storage/scripts/responses.ts',
    original: 'last: onPage.at(-1)?.id',
    replacement: 'last: found.at(-1)?.id',
    tests: ['test/api/stored/responses-list.test.ts'],
  },
]
