import { join } from 'node:path'
import { clientsPage, commandLinePage, errorsPage, metricsPage } from './docs/reference-pages.ts'
import { configurationPage } from './docs/configuration-page.ts'
import { fillRegions, type Page } from './docs/page.ts'
import { providersPage } from './docs/providers-page.ts'
import { projectFolder } from './install.ts'

/** The pages with generated regions. */
export const pages: readonly Page[] = [
  configurationPage,
  providersPage,
  clientsPage,
  errorsPage,
  commandLinePage,
  metricsPage,
]

/** Returns the text of a page as it is, and as the code generates it now. */
export async function generatePage(
  page: Page,
): Promise<{ readonly current: string; readonly generated: string }> {
  const current = await Bun.file(join(projectFolder, page.path)).text()
  return { current, generated: fillRegions(current, await page.regions()) }
}

/** Writes every page that has changed. */
async function writePages(): Promise<void> {
  for (const page of pages) {
    const { current, generated } = await generatePage(page)
    if (generated !== current) await Bun.write(join(projectFolder, page.path), generated)
    console.log(`${page.path}: ${generated === current ? 'unchanged' : 'written'}`)
  }
}

if (import.meta.main) await writePages()
