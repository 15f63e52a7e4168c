package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A change is another text for the bytes of a file from start to end.
type change struct {
	file, name string // the name is what mutants prints and reads
	pkg        string // the import path
	start, end int
	text       string
	body       body // of the function around it
}

// A body is what a function does, without the braces. There is none around constants, and none if it has labels.
type body struct {
	start, end, line int
	after            string // ends a copy of it in front of the original
}

// changes returns the changes to a file, in its order. Some do not compile.
func changes(file, pkg string, source []byte) (all []change, err error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var around body
	add := func(from, to token.Pos, kind, text string) {
		at, end := files.Position(from), files.Position(to)
		all = append(all, change{file, fmt.Sprintf("%v: %s", at, kind), pkg, at.Offset, end.Offset, text, around})
	}
	shown := func(n ast.Node) string {
		text := strings.Fields(string(source[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset]))
		if short := strings.Join(text, " "); len(short) <= 60 {
			return short
		}
		return text[0] + " ... " + text[len(text)-1]
	}
	operator := func(at token.Pos, op token.Token) {
		if other := opposite(op); other != op {
			add(at, at+token.Pos(len(op.String())), op.String()+" -> "+other.String(), other.String())
		}
	}
	negate := func(cond ast.Expr) {
		// The change of its operator says the same.
		if b, ok := cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
			add(cond.Pos(), cond.End(), "negated: "+shown(cond), "!("+string(source[files.Position(cond.Pos()).Offset:files.Position(cond.End()).Offset])+")")
		}
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE || isNamed(s.Lhs[0], "_") {
					continue
				}
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
			default:
				continue
			}
			add(s.Pos(), s.End(), "gone: "+shown(s), "")
		}
	}
	ast.PreorderStack(tree, nil, func(n ast.Node, above []ast.Node) bool {
		if len(above) == 1 {
			around = bodyOf(files, n)
		}
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR || n.Tok == token.CONST
		case *ast.FuncType:
			return false // its constraints are not run
		case *ast.BlockStmt:
			statements(n.List)
		case *ast.CommClause:
			statements(n.Body)
		case *ast.CaseClause:
			statements(n.Body)
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.AssignStmt:
			operator(n.TokPos, n.Tok)
		case *ast.IfStmt:
			negate(n.Cond)
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				for _, cond := range clause.(*ast.CaseClause).List {
					if n.Tag == nil {
						negate(cond)
					}
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				add(n.Pos(), n.End(), n.Value+" -> "+n.Value+"+1", "("+n.Value+"+1)")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n.Pos(), n.End(), n.Name+" negated", "!"+n.Name)
			}
		case *ast.ReturnStmt:
			if results := resultsOf(above); len(n.Results) > 0 && len(n.Results) == results.NumFields() {
				last, of := n.Results[len(n.Results)-1], results.List[len(results.List)-1].Type
				if isNamed(of, "error") && !isNamed(last, "nil") {
					add(last.Pos(), last.End(), "nil for "+shown(last), "nil")
				}
			}
		}
		return true
	})
	return all, nil
}

// opposite returns the operator that takes the place of op, and op if none does.
func opposite(op token.Token) token.Token {
	pairs := [...]token.Token{
		token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ, token.ADD, token.SUB, token.MUL, token.QUO,
		token.LAND, token.LOR, token.AND, token.OR, token.SHL, token.SHR, token.ADD_ASSIGN, token.SUB_ASSIGN,
	}
	if i := slices.Index(pairs[:], op); i >= 0 {
		return pairs[i^1]
	}
	return op
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// resultsOf returns what the innermost function returns.
func resultsOf(above []ast.Node) *ast.FieldList {
	for _, n := range slices.Backward(above) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Type.Results
		case *ast.FuncLit:
			return n.Type.Results
		}
	}
	return nil
}

func bodyOf(files *token.FileSet, n ast.Node) (found body) {
	f, ok := n.(*ast.FuncDecl)
	if !ok || f.Body == nil {
		return found
	}
	start := files.Position(f.Body.Lbrace)
	found = body{start.Offset + 1, files.Position(f.Body.Rbrace).Offset, start.Line, "return"}
	if f.Type.Results.NumFields() > 0 {
		found.after = `panic("the end of a function is reached")`
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.LabeledStmt); ok {
			found = body{}
		}
		return true
	})
	return found
}
