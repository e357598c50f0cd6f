import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { visibleText } from './visible-text.ts'

/** Renders the tokens of a line. Markup of the text itself stays text. */
export function renderInline(tokens: readonly Token[] | undefined): ComponentChildren {
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
