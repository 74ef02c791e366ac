#!/usr/bin/python3
"""make.py FOLDER: the documentation as a site, FOLDER/html, by mkdocs. `./dev site` runs it.

Pages stay where they are in the tree, so that their links hold; what they link to comes along. A link to a folder is one to a page about it:
its README, and the files in it. Pages that the contents (mkdocs.yml) lack stand at their end; a link to nothing is an error."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r'(\]\()([^)\s#]+)(#[^)\s]*)?(\))')
LANGUAGES = {'.cpp': 'cpp', '.hpp': 'cpp', '.py': 'python', '.fa': 'c', '.txt': 'cmake', '.toml': 'toml'}
SHOWN = 12  # files of a folder; of more only their names


def fail(text):
    sys.exit(f'site: {text}')


ITEM = re.compile(r' *(?:[-*]|[0-9]+\.) ')


def as_mkdocs_reads(text):
    """A list may begin right below a line, as elsewhere; mkdocs wants an empty one between."""
    last, listed = '', False
    for line, code in without_code(text):
        item = not code and ITEM.match(line)
        if item and last.strip() and not listed:
            yield ''
        listed = bool(item) or (listed and line.startswith(' '))
        yield line
        last = line


def without_code(text):
    """The lines that may have links, in place."""
    code = False
    for line in text.split('\n'):
        fence = line.lstrip().startswith('```')
        yield line, code or fence or line.startswith('    ')
        code ^= fence


class Site:
    def __init__(self, folder):
        self.source = folder / 'source'
        self.waiting, self.seen = [], set()
        shutil.rmtree(folder, ignore_errors=True)

    def take(self, path):
        if path not in self.seen:
            self.seen.add(path)
            self.waiting.append(path)

    def write(self, path, text):
        to = self.source / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding='utf-8')

    def link(self, page, target):
        """Where a link of a page leads: a file that comes along."""
        to = pathlib.Path(os.path.normpath(page.parent / target))
        if not to.exists() or ROOT not in (to, *to.parents):
            fail(f'{page.relative_to(ROOT)} links to {target}, which is not there')
        if to.is_dir():
            to /= 'README.md'
        self.take(to)
        return os.path.relpath(to, page.parent)

    def page(self, path, text):
        def linked(m):
            if re.match(r'[a-z]+:', m[2]):
                return m[0]
            return m[1] + self.link(path, m[2]) + (m[3] or '') + m[4]
        text = '\n'.join(line if code else LINK.sub(linked, line) for line, code in without_code(text))
        self.write(path, '\n'.join(as_mkdocs_reads(text)))

    def folder(self, readme):
        """The page about a folder."""
        folder = readme.parent
        text = readme.read_text(encoding='utf-8') if readme.exists() else f'# {folder.relative_to(ROOT)}\n'
        inside = sorted(p for p in folder.iterdir() if p.name != 'README.md' and not p.name.startswith(('.', '__')))
        for p in inside:
            if p.is_dir():
                text += f'\n- [{p.name}/]({p.name})'
        files = [p for p in inside if p.is_file()]
        if len(files) > SHOWN:
            text += '\n\n' + ', '.join(f'`{p.name}`' for p in files) + '\n'
        else:
            for p in files:
                try:
                    source = p.read_text(encoding='utf-8').rstrip('\n')
                except UnicodeDecodeError:
                    source = '(not a text)'
                text += f'\n\n## {p.name}\n\n````{LANGUAGES.get(p.suffix, "text")}\n{source}\n````\n'
        self.page(readme, text)

    def assemble(self, nav):
        for page in nav:
            self.take(ROOT / page)
        while self.waiting:
            path = self.waiting.pop()
            in_examples = ROOT / 'examples' in path.parents
            if path.name == 'README.md' and path.parent != ROOT and (in_examples or not path.exists()):
                self.folder(path)
            elif path.suffix == '.md':
                self.page(path, path.read_text(encoding='utf-8'))
            else:
                to = self.source / path.relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)


def check_anchors(html):
    """That links into pages lead to a place in them."""
    ids = {p: set(re.findall(r'\sid="([^"]*)"', p.read_text(encoding='utf-8'))) for p in html.rglob('*.html')}
    for page in ids:
        for to, anchor in re.findall(r'href="([^":]*\.html|)#([^"]+)"', page.read_text(encoding='utf-8')):
            target = pathlib.Path(os.path.normpath(page.parent / to)) if to else page
            if anchor not in ids.get(target, ()):
                fail(f'{page.relative_to(html)} links to {to}#{anchor}, where nothing is')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.partition('\n')[0])
    folder = pathlib.Path(sys.argv[1]).resolve()
    settings = (pathlib.Path(__file__).parent / 'mkdocs.yml').read_text(encoding='utf-8')
    nav = re.findall(r'\S+\.md$', settings, re.MULTILINE)
    more = sorted({str(page.relative_to(ROOT)) for page in (ROOT / 'docs').rglob('*.md')} - set(nav))
    if more:  # mkdocs.yml ends with its contents
        nav += more
        settings += '  - More:\n' + ''.join(f'      - {page}\n' for page in more)
    site = Site(folder)
    site.assemble(nav)
    (folder / 'mkdocs.yml').write_text(settings + 'docs_dir: source\nsite_dir: html\n', encoding='utf-8')
    made = subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--strict', '--quiet', '-f', folder / 'mkdocs.yml'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        fail(f'mkdocs does not make it:\n{made.stdout}')
    check_anchors(folder / 'html')
    print(f'{len(list((folder / "html").rglob("*.html")))} pages in {folder}/html')


main()
