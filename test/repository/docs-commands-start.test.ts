import { testPages } from './support/docs-pages.ts'

testPages('docs-commands-start.test.ts')
