import { expect, test } from 'bun:test'
import manifest from '../../package.json'
import { command as licenses, licenseText, thirdParty } from '../../src/cli/commands/licenses.ts'
import { storageFixture } from './support/storage-fixture.ts'

test('weir licenses prints the licence of Weir, every component and every licence text', async () => {
  const { code, out } = await storageFixture().say(licenses)
  expect(code).toBe(0)
  expect(out).toStartWith(`Weir ${manifest.version}, Apache-2.0. `)
  for (const { name } of thirdParty.components) expect(out).toContain(`\n${name} `)
  for (const text of Object.values(thirdParty.texts)) expect(out).toContain(text)
})

test('weir licenses --json prints every component with its text', async () => {
  const { out } = await storageFixture().say(licenses, '--json')
  const printed: { name: string; text: string | null }[] = JSON.parse(out)
  expect(printed.map(({ name }) => name)).toEqual(thirdParty.components.map(({ name }) => name))
  expect(printed.map(({ text }) => text)).toEqual(
    thirdParty.components.map((component) => licenseText(component)),
  )
})

test('weir licenses NAME prints one component, in any case of letters', async () => {
  const { code, out } = await storageFixture().say(licenses, 'ELYSIA')
  expect(code).toBe(0)
  expect(out).toMatch(/^elysia \S+, MIT\nhttps:\S+\n\n/)
  expect(out).toContain('Permission is hereby granted')
  expect(out).not.toContain('Apache')
})

test('weir licenses NAME of a library whose text is unknown says where it is', async () => {
  const { out } = await storageFixture().say(licenses, 'zstd')
  expect(out).toMatch(/^zstd, .*\nhttps:\S+\n\nThe text is at the address above\.$/)
})

test('weir licenses NAME of an unknown component fails and suggests a known one', async () => {
  const { say } = storageFixture()
  expect(await say(licenses, 'elysa')).toEqual({
    code: 1,
    out: '',
    err: 'The executable contains no component “elysa”. Did you mean elysia?',
  })
  expect((await say(licenses, 'quicksand')).err).toEndWith('See weir licenses.')
})
