import { customaryCodes } from '../../api/responses/render/render-failure.ts'
import { type ErrorCodeDetails, errorCodeGroups } from '../../lib/errors/error-codes.ts'
import { code, codeList, type Column, markdownTable } from './markdown.ts'
import type { Page } from './page.ts'

/** The reference of error codes. */
export const errorsPage: Page = {
  path: 'docs/errors.md',
  regions: () => ({
    ...Object.fromEntries(
      Object.entries(errorCodeGroups).map(([name, group]) => [`${name}-codes`, codeTable(group)]),
    ),
    'response-codes': responseCodeTable(),
  }),
}

type CodeRow = readonly [name: string, facts: ErrorCodeDetails]

const columns: readonly Column<CodeRow>[] = [
  { title: 'Status', cell: ([, { status }]) => String(status) },
  { title: 'Code', cell: ([name]) => code(name) },
  { title: 'Type', cell: ([, { type }]) => codeList(type) },
  { title: 'Cause', cell: ([, { cause }]) => cause },
  { title: 'Remedy', cell: ([, { remedy }]) => remedy },
  { title: 'SDKs retry', cell: ([, { retried }]) => (retried ? 'yes' : 'no') },
]

function codeTable(group: Readonly<Record<string, ErrorCodeDetails>>): string {
  return markdownTable(Object.entries(group), columns)
}

/** The codes that the `error` of a response has instead of those of the gateway. */
function responseCodeTable(): string {
  return markdownTable(
    [...customaryCodes],
    [
      { title: 'Code of the gateway', cell: ([own]) => code(own) },
      { title: 'Code in `response.error`', cell: ([, customary]) => code(customary) },
    ],
  )
}
