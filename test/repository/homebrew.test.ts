import { expect, test } from 'bun:test'
import { join } from 'node:path'
import manifest from '../../package.json'
import { renderFormula, targets } from '../../src/build/release.ts'
import { projectFolder } from '../support/source.ts'

const template = await Bun.file(join(projectFolder, 'deploy/homebrew/weir.rb')).text()
const sums = new Map(targets.map(({ file }, index) => [file, String(index).repeat(64)]))
const values = {
  version: '1.2.3',
  homepage: 'https://forge.example/acme/weir',
  license: manifest.license,
  checksums: sums,
}

test('the formula names each released file of Linux and macOS with its own checksum', () => {
  const formula = renderFormula(template, values)
  const sources = [...formula.matchAll(/url "(\S+)"\n\s+sha256 "(\S+)"/g)].map(([, url, sum]) => [url, sum])
  const download = `${values.homepage}/releases/download/v1.2.3`
  expect(sources).toEqual(
    ['weir-darwin-arm64', 'weir-linux-x64', 'weir-linux-arm64'].map((file) => [
      `${download}/${file}`,
      sums.get(file),
    ]),
  )
  expect(formula).toStartWith('class Weir < Formula\n')
  expect(formula).toContain('version "1.2.3"')
  // What Ruby itself fills in stays.
  expect(formula).toContain('"weir #{version}"')
  expect(formula.replaceAll(/#\{[^}]*\}/g, '')).not.toMatch(/[{}]/)
})

test('a formula without a checksum is not rendered', () => {
  const checksums = new Map([...sums].filter(([file]) => file !== 'weir-linux-arm64'))
  expect(() => renderFormula(template, { ...values, checksums })).toThrow(
    'The formula has no value for {sha256 weir-linux-arm64}.',
  )
})
