import { Component } from 'preact'
import { useRef } from 'preact/hooks'
import { CopyButton } from './button.tsx'
import { visibleText } from './format.ts'
import { Markdown } from './markdown.tsx'
import { type Block, BlockSplitter } from './markdown-blocks.ts'

/** Markdown that grows at its end, such as the text of an answer. Blocks that are complete are rendered once. */
export function GrowingMarkdown({ text }: { readonly text: string }) {
  const state = useRef({ splitter: new BlockSplitter(), length: 0 })
  if (text.length < state.current.length) state.current = { splitter: new BlockSplitter(), length: 0 }
  const { splitter, length } = state.current
  if (text.length > length) {
    splitter.push(text.slice(length))
    state.current.length = text.length
  }
  const blocks = splitter.rest === undefined ? splitter.blocks : [...splitter.blocks, splitter.rest]
  return (
    <div class="markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} codeFrom={firstPart(blocks, index)} />
      ))}
    </div>
  )
}

type BlockProps = {
  readonly block: Block
  /** The parts of the code that begins here; undefined within it. */
  readonly codeFrom: (() => string) | undefined
}

/** Rendered again only when its source changes. */
class BlockView extends Component<BlockProps> {
  override shouldComponentUpdate({ block }: BlockProps) {
    return block.source !== this.props.block.source || block.kind !== this.props.block.kind
  }

  override render({ block, codeFrom }: BlockProps) {
    if (block.kind === 'markdown') return <Markdown source={block.source} />
    return (
      <div class={block.continued ? 'answer-code continued' : 'answer-code'}>
        {codeFrom && (
          <header>
            <span class="quiet">{visibleText(block.language) || 'text'}</span>
            <CopyButton text={codeFrom} iconOnly label="Copy the code" />
          </header>
        )}
        <pre tabIndex={0} role="region" aria-label="Code">
          <code>{visibleText(block.source)}</code>
        </pre>
      </div>
    )
  }
}

/** Returns what copies the code that begins at this block, with the parts after it. */
function firstPart(blocks: readonly Block[], index: number): (() => string) | undefined {
  const first = blocks[index]
  if (first?.kind !== 'code' || first.continued) return undefined
  return () => {
    const rest = blocks.slice(index + 1)
    const end = rest.findIndex(({ continued }) => !continued)
    return [first, ...rest.slice(0, end < 0 ? rest.length : end)].map(({ source }) => source).join('')
  }
}
