import { expect, test } from 'bun:test'
import { clientsPage } from '../../src/build/docs/reference-pages.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { projectFolder } from '../support/source.ts'

test('docs/clients.md has a section with the title of every tool', async () => {
  const page = await Bun.file(`${projectFolder}/${clientsPage.path}`).text()
  for (const { title, name } of connectTools)
    expect(page).toContain(`### ${title}\n\n<!-- generated: ${name} -->`)
})
