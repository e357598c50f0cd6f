import type { Page } from './page.ts'
import { kindTable, unsupportedTable } from './provider-rows.ts'

/** The reference of the kinds of providers; their sections are written by hand. */
export const providersPage: Page = {
  path: 'docs/providers.md',
  regions: () => ({ kinds: kindTable(), unsupported: unsupportedTable() }),
}
