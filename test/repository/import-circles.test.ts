import { expect, test } from 'bun:test'
import { importCircles } from '../support/import-circles.ts'
import { sourceFiles } from '../support/source.ts'

test('a circle through a type import is found, and files that only lead to it are not part of it', () => {
  const files = [
    { path: 'src/a.ts', text: "import { b } from './b.ts'" },
    { path: 'src/b.ts', text: "import type { C } from './c.ts'" },
    { path: 'src/c.ts', text: "import { b } from './b.ts'\nimport { d } from './d.ts'" },
    { path: 'src/d.ts', text: "import { join } from 'node:path'" },
  ]
  expect(importCircles(files)).toEqual([['src/b.ts', 'src/c.ts']])
})

test('a file that imports itself is a circle', () => {
  expect(importCircles([{ path: 'src/a.ts', text: "import { a } from './a.ts'" }])).toEqual([['src/a.ts']])
})

test('no files of src import each other in a circle, types included', async () => {
  expect(importCircles(await sourceFiles('src'))).toEqual([])
})
