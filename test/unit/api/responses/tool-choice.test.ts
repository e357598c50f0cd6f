import { describe, expect, test } from 'bun:test'
import { chooseTools, lowerTools } from '../../../../src/api/responses/request/tools.ts'

const named = (name: string) => ({ type: 'function', name })

function lower(names: readonly string[]) {
  return lowerTools(names.map(named), { functionTools: true, unsupported: 'reject' }, () => {})
}

function allowed(names: readonly string[]) {
  return { type: 'allowed_tools', mode: 'auto', tools: names.map(named) }
}

describe('the allowed tools of a tool choice', () => {
  test('are each sent once, however often they are named', () => {
    const { tools } = chooseTools(allowed(['b', 'a', 'b', 'b']), lower(['a', 'b', 'c']))
    expect(tools.map(({ tool }) => tool.name)).toEqual(['b', 'a'])
  })

  test('are found in a time that grows with their number alone', () => {
    // What grows with its square does not end within the time of a test.
    const names = Array.from({ length: 200_000 }, (_, index) => `tool_${index}`)
    const tools = lower(names)
    expect(chooseTools(allowed(names.toReversed()), tools).tools).toHaveLength(names.length)
  })
})
