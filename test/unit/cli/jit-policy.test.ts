import { expect, test } from 'bun:test'
import { projectFolder } from '../../support/source.ts'

const program = `
  import { numberOfDFGCompiles } from 'bun:jsc'
  import { compileFromNowOn, interpretStart } from './src/cli/serve/jit-policy.ts'
  const sizeOf = (object) => object.count + object.name.length
  const callOften = () => {
    for (let count = 0; count < 20_000; count++) sizeOf({ count, name: 'of a model' })
    return numberOfDFGCompiles(sizeOf)
  }
  interpretStart()
  const during = callOften()
  compileFromNowOn()
  console.log(during, callOften())`

test('what a start calls is interpreted, and compiled once the start is over', () => {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', program], {
    cwd: projectFolder,
    // A function is compiled while it runs, so that the result does not depend on the load of the machine.
    env: { ...process.env, BUN_JSC_useConcurrentJIT: '0' },
  })
  expect(stderr.toString()).toBe('')
  expect(stdout.toString().trim()).toBe('0 1')
})
