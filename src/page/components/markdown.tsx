import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { visibleText } from './format.ts'

/** Renders Markdown as elements, from its tokens: no text ever becomes markup. */
export function Markdown({ source }: { readonly source: string }) {
  return (
    <>
      {parse(source).map((token, index) => (
        <BlockToken key={index} token={token} />
      ))}
    </>
  )
}

/** A text that the parser cannot handle, such as one with thousands of nested quotes, is shown as it is. */
function parse(source: string): readonly Token[] {
  try {
    return lexer(source, { gfm: true, breaks: true })
  } catch {
    return [{ type: 'plain', raw: source }]
  }
}

function BlockToken({ token }: { readonly token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return <Heading token={token as Tokens.Heading} />
    case 'paragraph':
      return <p dir="auto">{renderInline(token.tokens)}</p>
    case 'text':
      return <>{token.tokens ? renderInline(token.tokens) : visibleText(token.raw)}</>
    case 'list':
      return <List token={token as Tokens.List} />
    case 'blockquote':
      return (
        <blockquote>
          {token.tokens?.map((child, index) => (
            <BlockToken key={index} token={child} />
          ))}
        </blockquote>
      )
    case 'table':
      return <DataTable token={token as Tokens.Table} />
    case 'hr':
      return <hr />
    case 'code':
      return (
        <pre class="answer-code">
          <code>{visibleText((token as Tokens.Code).text)}</code>
        </pre>
      )
    default:
      return (
        <p dir="auto" class="plain">
          {visibleText(token.raw)}
        </p>
      )
  }
}

/** All of one level, below that of the answer: a model skips levels, which would confuse a screen reader. */
function Heading({ token }: { readonly token: Tokens.Heading }) {
  return (
    <p class={`answer-heading depth-${Math.min(3, token.depth)}`} role="heading" aria-level={4} dir="auto">
      {renderInline(token.tokens)}
    </p>
  )
}

function List({ token }: { readonly token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} dir="auto">
      {item.task && <input type="checkbox" checked={item.checked} disabled aria-label="Task" />}
      {item.tokens
        .filter(({ type }) => type !== 'checkbox')
        .map((child, position) => (
          <BlockToken key={position} token={child} />
        ))}
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function DataTable({ token }: { readonly token: Tokens.Table }) {
  return (
    <div class="answer-table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} scope="col">
                {renderInline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, position) => (
                <td key={position}>{renderInline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Renders the tokens of a line. Markup of the text itself stays text. */
function renderInline(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Inline key={index} token={token} />)
}

function Inline({ token }: { readonly token: Token }) {
  switch (token.type) {
    case 'strong':
      return <strong>{renderInline(token.tokens)}</strong>
    case 'em':
      return <em>{renderInline(token.tokens)}</em>
    case 'del':
      return <del>{renderInline(token.tokens)}</del>
    case 'codespan':
      return <code>{visibleText(textOf(token))}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link token={token as Tokens.Link} />
    case 'image':
      // Pictures of other hosts would tell them who reads the answer.
      return <Link token={token as Tokens.Image} />
    case 'text':
      return (
        <>{'tokens' in token && token.tokens ? renderInline(token.tokens) : visibleText(textOf(token))}</>
      )
    case 'escape':
      return <>{visibleText(textOf(token))}</>
    default:
      return <>{visibleText(token.raw)}</>
  }
}

/** A link to the web. Anything else, such as `javascript:`, is shown as it was written. */
function Link({ token }: { readonly token: Tokens.Link | Tokens.Image }) {
  const url = URL.parse(token.href)
  if (url === null || !/^https?:$/.test(url.protocol)) return <>{visibleText(token.raw)}</>
  const content = token.type === 'link' ? renderInline(token.tokens) : visibleText(token.text)
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      {content || url.host}
    </a>
  )
}

function textOf(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw
}
