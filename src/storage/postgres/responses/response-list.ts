import { fieldsOf, parseJson } from '../../../lib/json/json.ts'
import type { ResponseReads, ResponseRow } from '../../common/response-list.ts'
import type { Query } from '../connection/connections.ts'
import { Parameters } from '../writer/statement.ts'
import { logSize } from './log-sql.ts'

/** What a list of responses reads. */
export function createListReads(query: Query): Omit<ResponseReads, 'find'> {
  return {
    rows(organization, after, order, limit) {
      const parameters = new Parameters()
      const conditions = [`organization_id = ${parameters.add(organization)}`, 'deletion IS NULL']
      if (after !== undefined) conditions.push(`id ${order === 'asc' ? '>' : '<'} ${parameters.add(after)}`)
      return query<ResponseRow>(
        `SELECT id, status, octet_length(head) "headBytes", (octet_length(head) + ${logSize})::bigint bytes FROM responses
        WHERE ${conditions.join(' AND ')} ORDER BY id ${order} LIMIT ${parameters.add(limit)}`,
        parameters.values,
      )
    },
    async heads(ids) {
      const rows = await query<HeadRow>('SELECT id, head FROM responses WHERE id = ANY($1)', [ids])
      const parsed = rows.map(({ id, head }) => ({ id, head: parseJson(head) }))
      return new Map(
        parsed
          .filter(({ head }) => head !== undefined)
          .map(({ id, head }) => {
            const { model, metadata } = fieldsOf(head)
            return [id, { model, metadata }]
          }),
      )
    },
  }
}

type HeadRow = { readonly id: string; readonly head: string }
