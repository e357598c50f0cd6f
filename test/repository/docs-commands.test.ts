import { describe, expect, test } from 'bun:test'
import { hasShell, testPages } from './support/docs-pages.ts'
import { runnableBlocks, runPage } from './support/docs-runner.ts'
import { parsePage } from './support/markdown-page.ts'
import { firstDifference } from './support/output-pattern.ts'

// The commands of the documentation run as a reader types them: see “Commands in the documentation” in test/README.md.
// Here are those of the pages that have no file of their own, which `pagesOf` lists.

testPages()

describe.skipIf(!hasShell)('the runner of the documentation', () => {
  test('keeps variables, folders and background jobs from block to block', async () => {
    await runPage(
      pageOf(
        '```sh runnable\nmkdir here && cd here\nNAME=river\ncat &\n```',
        '```sh runnable\necho "$NAME" "${PWD##*/}"\nwait\n```',
        '```text output\nriver here\n```',
      ),
    )
  })

  test('names the page and the line of a command that fails', async () => {
    const failing = runPage(pageOf('Words.', '```sh runnable\ntrue\nfalse\ntrue\n```'))
    await expect(failing).rejects.toThrow(/^docs\/page\.md:4: it ended with exit code 1/)
  })

  test('ends a block that takes too long, and what it started', async () => {
    const failing = runPage(pageOf('```sh runnable\nsleep 3600 &\nsleep 3600\n```'), 200)
    await expect(failing).rejects.toThrow(/^docs\/page\.md:2: it took longer than 200 ms/)
  })

  test('names the page and the line of an output that differs', async () => {
    const failing = runPage(pageOf('```sh runnable\necho a b\n```', '```text output\na … c\n```'))
    await expect(failing).rejects.toThrow(
      /^docs\/page\.md:5: the output has “a b” where the page has “a … c”/,
    )
  })

  test('starts a server where the page says so, and fills in the ids that were printed', async () => {
    await runPage(
      pageOf(
        '<!-- runner: server -->',
        '```sh runnable\ncurl -fsS http://127.0.0.1:9347/v1/responses -H "Authorization: Bearer $WEIR_API_KEY" \\',
        '  -H "Content-Type: application/json" -d \'{"model": "weir/echo", "input": "A river"}\'\n```',
        '```sh runnable\ncurl -fsS http://127.0.0.1:9347/v1/responses/resp_… -H "Authorization: Bearer sk-weir-…" \\',
        '  | grep -o \'"status":"completed"\' | head -1\n```',
        '```text output\n"status":"completed"\n```',
      ),
    )
  })

  test('ignores blocks that are not marked, and fails where a block has no end', () => {
    expect(runnableBlocks(pageOf('```sh\nfalse\n```', '```yaml runnable\na: 1\n```'))).toEqual([])
    expect(() => pageOf('```sh runnable\ntrue')).toThrow(/this block has no end/)
  })
})

describe('the output of a page matches', () => {
  test.each([
    ['a\nb', 'a\nb\n', true],
    ['a', 'a\nb', false],
    ['a\nb', 'a', false],
    ['a … c', 'a b c', true],
    ['a … c', 'a b d', false],
    ['a.c', 'abc', false],
    ['a\n…\nd', 'a\nb\nc\nd', true],
    ['a\n…\nd', 'a\nd', true],
    ['a\n…', 'a\nb\nc', true],
    ['a\n…\nd', 'a\nb\nc', false],
    ['a\n…\nd', 'a\nd\ne', false],
    ['…\nb\n…\nd', 'a\nb\nc\nd', true],
  ])('%j of %j: %p', (expected, actual, matches) => {
    expect(firstDifference(expected, actual) === null).toBe(matches)
  })
})

function pageOf(...parts: readonly string[]) {
  return parsePage('docs/page.md', `${parts.join('\n')}\n`)
}
