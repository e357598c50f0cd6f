import { expect, test } from 'bun:test'
import { clientsPagePath, renderClientsPage } from '../../src/build/docs/clients.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'

const page = await Bun.file(clientsPagePath).text()

test('docs/clients.md has the settings that weir connect prints; else run: bun src/build/docs/clients.ts', () => {
  expect(page).toBe(renderClientsPage(page))
})

test('docs/clients.md has a section with the title of every tool', () => {
  for (const { title, name } of connectTools)
    expect(page).toContain(`### ${title}\n\n<!-- weir connect ${name} -->`)
})

test('a page without the region of a tool is an error that names the tool', () => {
  const [first] = connectTools
  expect(() => renderClientsPage(page.replace(`<!-- end of ${first?.name} -->`, ''))).toThrow(
    `weir connect ${first?.name}`,
  )
})
