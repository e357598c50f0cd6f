import type { Query } from '../../../../src/storage/postgres/connection/connections.ts'

type Plan = {
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** Runs each statement of PostgreSQL, and records the rows that its scans have read. */
export function countRows(query: Query): { readonly counting: Query; read(): number } {
  let read = 0
  const rowsOf = (plan: Plan): number =>
    plan.Plans === undefined
      ? plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)
      : plan.Plans.reduce((sum, part) => sum + rowsOf(part), plan['Rows Removed by Filter'] ?? 0)
  const counting = (async (text: string, values?: readonly unknown[]) => {
    const explained = await query<Readonly<Record<string, readonly { readonly Plan: Plan }[]>>>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    )
    for (const { Plan } of Object.values(explained[0] ?? {}).flat()) read += rowsOf(Plan)
    return await query(text, values)
  }) as Query
  return { counting, read: () => read }
}
